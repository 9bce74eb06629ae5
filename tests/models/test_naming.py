"""Names and options of models: what can be said, what is answered to what cannot, and that no key leaks."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.models import Function, model
from paceline.models.hosted import Hosted
from tests.models.loopback import KEY


def refused(which: Any, **options: Any) -> str:
    """What is said to whoever asks for this model: message and remedy."""
    with pytest.raises(UsageError) as caught:
        model(which, **options)
    assert caught.value.hint
    assert caught.value.exit_code == 2
    return f"{caught.value} ({caught.value.hint})"


@pytest.mark.parametrize(
    ("written", "options", "name", "api"),
    [
        ("openai:gpt-5.4-mini", {}, "openai:gpt-5.4-mini", "OpenAIChat"),
        ("openai-responses:gpt-5.4", {}, "openai-responses:gpt-5.4", "OpenAIResponses"),
        ("openai:gpt-5.4", {"api": "responses"}, "openai:gpt-5.4", "OpenAIResponses"),
        ("openai:ft:gpt-4o:org::id", {}, "openai:ft:gpt-4o:org::id", "OpenAIChat"),
        ("anthropic:claude-haiku-5-5", {}, "anthropic:claude-haiku-5-5", "AnthropicMessages"),
        ("openai-compatible:a/b@http://h:1/v1", {}, "openai-compatible:a/b@http://h:1/v1", "OpenAIChat"),
        (
            "openai-compatible:m@x",
            {"base_url": "https://h/v1/"},
            "openai-compatible:m@x@https://h/v1",
            "OpenAIChat",
        ),
        ("openai:m", {"base_url": "https://u:p@h/v1?key=k"}, "openai:m@https://h/v1", "OpenAIChat"),
    ],
)
def test_a_name_says_through_which_api_a_model_is_asked(
    written: str, options: dict[str, Any], name: str, api: str
) -> None:
    found = model(written, **options)
    assert (found.name, type(found).__name__) == (name, api)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("gpt-5.4-mini", "there is no model 'gpt-5.4-mini'; did you mean openai:gpt-5.4-mini?"),
        ("claude-haiku-5-5", "did you mean anthropic:claude-haiku-5-5?"),
        ("openai/gpt-5.4", "did you mean openai:gpt-5.4?"),
        ("OpenAI:gpt-5.4", "did you mean openai:gpt-5.4?"),
        ("opanai:gpt-5.4", "did you mean openai:gpt-5.4?"),
        ("antropic:claude-haiku-5-5", "did you mean anthropic:claude-haiku-5-5?"),
        ("openai", "did you mean openai:gpt-5.4-mini?"),
        ("openai:", "did you mean openai:gpt-5.4-mini?"),
        ("llama", "there is no model 'llama' (models are named openai:"),
        ("", "there is no model ''"),
        (
            "openai-compatible:llama",
            "does not say where the model is (write openai-compatible:llama@https://",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_form(written: str, said: str) -> None:
    assert said in refused(written)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temprature": 0}, "openai:m: there is no option 'temprature'; did you mean temperature?"),
        ({"temperature": "hot"}, "openai:m: option temperature: expected `float"),
        ({"temperature": -1}, "option temperature: expected `float` >= 0"),
        ({"max_tokens": 0}, "option max_tokens: expected `int` >= 1"),
        ({"max_tokens": True}, "option max_tokens: expected `int"),
        ({"timeout": 0}, "option timeout: expected `float` > 0"),
        ({"stop": [1]}, "option stop: expected `str`"),
        ({"api_key": KEY}, "a key is not said here"),
        ({"base_url": "h/v1"}, "'h/v1' is no base URL"),
        ({"api": "batch"}, "openai has no API 'batch' (it has chat, responses)"),
    ],
)
def test_an_option_that_cannot_be_is_an_error_with_the_remedy(options: dict[str, Any], said: str) -> None:
    told = refused("openai:m", **options)
    assert said in told
    assert KEY not in told


@pytest.mark.parametrize(
    ("written", "option"),
    [("openai-responses:m", "seed"), ("openai-responses:m", "stop"), ("anthropic:m", "seed")],
)
def test_an_option_that_an_api_has_no_use_for_is_refused_and_not_dropped(written: str, option: str) -> None:
    assert f"this API has no {option}" in refused(written, **{option: 1})


def test_an_option_of_one_call_is_checked_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(UsageError, match="did you mean temperature"):
        asyncio.run(model("openai:m").ask("Hm?", temprature=0))


def test_a_base_url_that_is_said_twice_is_an_error() -> None:
    assert "said twice" in refused("openai-compatible:m@http://a/v1", base_url="http://b/v1")


def test_a_mapping_names_a_model_with_options() -> None:
    assert model({"name": "openai:m", "temperature": 0}).version == "openai:m, temperature=0.0"
    assert "wants a name" in refused({"temperature": 0})


def test_a_model_is_a_model_and_a_function_becomes_one() -> None:
    made = model("openai:m")
    assert model(made) is made
    assert isinstance(model(str.upper), Function)
    assert "has its options already" in refused(made, temperature=0)
    assert "a function has no options" in refused(str.upper, temperature=0)
    assert "a int is no model" in refused(3)


# What a run remembers of a model


def test_the_version_tells_what_decides_the_answers_and_nothing_else() -> None:
    made = model(
        "openai:m",
        temperature=0,
        max_tokens=5,
        stop="END",
        timeout=3,
        api_key_env="MINE",
        headers={"X-Key": KEY},
        extra={"service_tier": "flex"},
    )
    assert made.version == (
        'openai:m, temperature=0.0, max_tokens=5, stop=["END"], extra={"service_tier":"flex"}'
    )


def test_two_models_at_different_addresses_are_different_ones() -> None:
    here, there = (model(f"openai-compatible:m@http://{host}/v1") for host in ("a", "b"))
    assert here.version != there.version


def test_no_key_stands_in_what_is_shown_or_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    made = model("openai:m", base_url=f"https://user:{KEY}@h/v1?k={KEY}", headers={"Authorization": KEY})
    assert isinstance(made, Hosted)
    connection = made._connection(made.options)  # what a debugger would show
    assert KEY not in f"{made!r}{made.version}{made.name}{made.options!r}{connection!r}"


def test_a_model_can_be_sent_to_another_process_and_takes_no_key_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    sent = pickle.dumps(model("openai:m", temperature=0))
    assert KEY.encode() not in sent
    assert pickle.loads(sent).version == "openai:m, temperature=0.0"


# Ready or not


def unready(written: str, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        model(written, **options).check_ready()
    assert caught.value.exit_code == 2
    return f"{caught.value} ({caught.value.hint})"


@pytest.fixture
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_no_keys")
def test_without_a_key_the_variable_to_set_is_named() -> None:
    assert unready("openai:m").startswith(
        "openai:m needs a key, and OPENAI_API_KEY is not set (export OPENAI_API_KEY=..."
    )
    assert "ANTHROPIC_API_KEY is not set" in unready("anthropic:m")
    assert "and MINE is not set" in unready("openai-compatible:m@http://h/v1", api_key_env="MINE")
    assert "and MINE is not set" in unready("anthropic:m", api_key_env="MINE")


@pytest.mark.usefixtures("_no_keys")
def test_a_model_without_a_key_is_not_asked_either() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        asyncio.run(model("openai:m").ask("Hm?"))


@pytest.mark.usefixtures("_no_keys")
def test_a_server_of_ones_own_needs_no_key() -> None:
    model("openai-compatible:m@http://h/v1").check_ready()


@pytest.mark.usefixtures("_no_keys")
def test_anthropic_is_entered_with_a_token_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", KEY)
    model("anthropic:m").check_ready()


@pytest.mark.usefixtures("_no_keys")
def test_a_broken_way_into_anthropic_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nowhere")
    assert "of no use" in unready("anthropic:m")


@pytest.mark.parametrize(("written", "extra"), [("openai:m", "openai"), ("anthropic:m", "anthropic")])
def test_without_the_sdk_the_command_that_installs_it_is_named(
    written: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.models.hosted.find_spec", lambda _name: None)
    assert f"pip install 'paceline[{extra}]'" in unready(written)


def test_an_sdk_that_cannot_be_loaded_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_sdk.py").write_text("raise ImportError('half of it is missing')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Hosted, "sdk", "broken_sdk", raising=False)
    monkeypatch.delattr("paceline.models.openai_chat.OpenAIChat.sdk")
    said = unready("openai:m")
    assert "needs the package broken_sdk, which cannot be loaded: half of it is missing" in said
    assert "pip install --upgrade" in said

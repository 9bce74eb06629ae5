"""What calls cost: what the user says goes first, then public lists, and what nobody knows is not nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.calls import Usage
from paceline.pace.prices import Price, price_of

USAGE = Usage(input=1_000_000, output=100_000, cached=400_000, cache_write=100_000)


def test_each_kind_of_token_has_its_price() -> None:
    price = Price(input=2.0, output=10.0, cached=0.5, cache_write=4.0)
    assert price.of(USAGE) == pytest.approx(0.5 * 2 + 0.4 * 0.5 + 0.1 * 4 + 0.1 * 10)


def test_what_has_no_price_of_its_own_costs_what_other_input_costs() -> None:
    assert Price(input=2.0, output=10.0).of(USAGE) == pytest.approx(2 + 1)


def test_what_the_user_says_goes_first_and_for_one_provider_before_all() -> None:
    said = {"my-model": Price(input=1.0, output=0.0), "openai:my-model": Price(input=3.0, output=0.0)}
    usage = Usage(input=1_000_000, output=0)
    assert price_of("my-model", "azure", usage, said) == 1.0
    assert price_of("my-model", "openai", usage, said) == 3.0
    assert price_of("gpt-5.4-mini", "openai", usage, {"gpt-5.4-mini": Price(input=0.0, output=0.0)}) == 0.0


@pytest.mark.parametrize("model", ["gpt-5.4-mini", "claude-haiku-4-5", "gpt-4o", "gemini-2.5-flash"])
def test_public_lists_know_the_models_that_people_use(model: str) -> None:
    provider = {"g": "openai", "c": "anthropic"}[model[0]] if "gemini" not in model else "gemini"
    price = price_of(model, provider, Usage(input=1_000, output=1_000))
    assert price is not None
    assert 0 < price < 1


def test_a_model_behind_a_host_that_nobody_knows_is_priced_by_its_name() -> None:
    usage = Usage(input=1_000, output=10)
    assert price_of("gpt-4o", "openai-compatible", usage) == price_of("gpt-4o", "openai", usage)


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        ("no-such-model-of-anybodys", USAGE),
        ("gpt-4o", None),
        ("gpt-4o", Usage(output=3)),
        ("", USAGE),
    ],
)
def test_what_nobody_knows_is_unknown(model: str, usage: Usage | None) -> None:
    assert price_of(model, "openai", usage) is None


def test_without_the_lists_only_what_the_user_says_is_known() -> None:
    program = (
        "import sys; sys.modules['genai_prices'] = None\n"
        "from paceline.pace.prices import Price, price_of\n"
        "from paceline.pace.calls import Usage\n"
        "usage = Usage(input=1_000_000, output=0)\n"
        "print(price_of('gpt-4o', 'openai', usage),"
        " price_of('gpt-4o', 'openai', usage, {'gpt-4o': Price(input=1.0, output=1.0)}))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["None", "1.0"]


COUNTS = st.integers(0, 10**7) | st.none()


@given(
    usage=st.builds(Usage, input=COUNTS, output=COUNTS, cached=COUNTS, cache_write=COUNTS, reasoning=COUNTS),
    model=st.sampled_from(["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "o3", "x"]),
    provider=st.sampled_from(["openai", "anthropic", "gemini", "openai-compatible", "bedrock", "nobody"]),
)
def test_whatever_was_counted_has_a_price_that_is_no_less_than_nothing_or_none(
    usage: Usage, model: str, provider: str
) -> None:
    price = price_of(model, provider, usage)
    assert price is None or price >= 0
    assert usage.input is not None or price is None

"""Prompt templates: places are filled with what the inputs hold, and the rest stays as it was written."""

from __future__ import annotations

import pickle
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from paceline.errors import UsageError
from paceline.tasks.template import MissingField, Template


@dataclass
class Visit:
    place: str
    days: int = 1

    @property
    def trap(self) -> str:
        raise AssertionError("a template executes no code")


class Struct(msgspec.Struct):
    place: str


class Pydantic(BaseModel):
    place: str


Named = namedtuple("Named", ["place"])  # what is tested


def fill(text: str, inputs: Any) -> str:
    return Template(text).fill(inputs)


@pytest.mark.parametrize(
    ("text", "inputs", "filled"),
    [
        ("Where is {{ inputs.city }}?", {"city": "Paris"}, "Where is Paris?"),
        ("{{inputs.city}}{{ inputs.city }}", {"city": "P"}, "PP"),
        ("{{ inputs }}", "Paris", "Paris"),
        ("{{ inputs }}", {"a": [1, None, True]}, '{"a":[1,null,true]}'),
        ("{{ inputs.a.b }}", {"a": {"b": "c"}}, "c"),
        ('{{ inputs["first name"] }}', {"first name": "Ann"}, "Ann"),
        ("{{ inputs['a.b'] }}", {"a.b": "c"}, "c"),
        ("{{ inputs.list[1].x }}", {"list": [0, {"x": 7}]}, "7"),
        ("{{ inputs[0] }}", ["a"], "a"),
        ("{{ inputs.größe }}", {"größe": "L"}, "L"),
        ("{{ inputs.snake-case_2 }}", {"snake-case_2": "x"}, "x"),
        ("{{ inputs.place }}", Visit("Rome"), "Rome"),
        ("{{ inputs.place }}", Struct("Rome"), "Rome"),
        ("{{ inputs.place }}", Pydantic(place="Rome"), "Rome"),
        ("{{ inputs.place }}", Named("Rome"), "Rome"),
        ("{{ inputs }}", Visit("Rome"), '{"place":"Rome","days":1}'),
        ("{{ inputs }}", [Pydantic(place="Rome")], '[{"place":"Rome"}]'),
        ("{{ inputs.city }}", {"city": "{{ inputs.secret }}", "secret": "s"}, "{{ inputs.secret }}"),
    ],
)
def test_a_place_is_filled_with_what_the_inputs_hold(text: str, inputs: Any, filled: str) -> None:
    assert fill(text, inputs) == filled


@pytest.mark.parametrize(
    "text",
    [
        'Answer as {"city": "...", "at": {"lat": 0}}',
        '{{"city": 1}}',
        "{{}} {{ }} {{{ }}} { { } }",
        "{question} {0} %s ${x}",
        "{% if inputs %}x{% endif %} {# inputs #}",
        "{{#each x}} {{/each}} {{> x}} {{^x}}",
        "f(x) = {{1, 2}, {3, 4}}",
        "a }} b {{ c",
        "{{ inputs.city\n}}",
        "\\{ \\\\ \\{{",
    ],
)
def test_other_braces_are_text_like_any_other(text: str) -> None:
    assert fill(text, {"city": "Paris"}) == text


def test_a_place_that_is_meant_literally_has_a_backslash_in_front() -> None:
    assert fill(r"\{{ inputs.city }} is {{ inputs.city }}, \{{ name }}", {"city": "Paris"}) == (
        "{{ inputs.city }} is Paris, {{ name }}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{{ question }}",
            "nothing but `inputs` (write {{ inputs.question }}; meant literally, \\{{ question }})",
        ),
        ("{{ input.question }}", "has {{ input.question }}"),
        ("{{ inputs | upper }}", "which is no place"),
        ("{{ inputs.first name }}", "which is no place"),
        ("{{ inputs.a() }}", "which is no place"),
        ("{{ inputs. }}", "which is no place"),
        ("{{ inputs[x] }}", "which is no place"),
        ("{{ inputs.a + 1 }}", "which is no place"),
    ],
)
def test_what_looks_like_a_place_and_is_none_is_an_error_at_once(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Template(text)
    assert said in f"{caught.value} ({caught.value.hint})"


@pytest.mark.parametrize(
    ("text", "inputs", "said"),
    [
        (
            "{{ inputs.question }}",
            {"land": "F", "nr": 1},
            "the prompt wants inputs.question, and inputs has land, nr",
        ),
        ("{{ inputs.qestion }}", {"question": "?"}, "inputs has question; did you mean question?"),
        ("{{ inputs.a.b }}", {"a": {"c": 1}}, "wants inputs.a.b, and inputs.a has c"),
        ("{{ inputs.a.b }}", {"a": "text"}, "inputs.a is a str without fields"),
        ("{{ inputs.a }}", "text", "inputs is a str without fields"),
        ("{{ inputs.a }}", None, "inputs is a NoneType without fields"),
        ("{{ inputs.a }}", {}, "inputs has no fields"),
        ("{{ inputs[3] }}", ["a"], "inputs has 1 items"),
        ("{{ inputs.trap }}", Visit("x"), "inputs has place, days"),
        ("{{ inputs.__class__ }}", Visit("x"), "inputs has place, days"),
        ("{{ inputs.upper }}", "text", "without fields"),
    ],
)
def test_a_missing_field_is_named_with_those_that_there_are(text: str, inputs: Any, said: str) -> None:
    with pytest.raises(MissingField) as caught:
        fill(text, inputs)
    assert said in str(caught.value)


def test_many_fields_are_not_all_listed() -> None:
    with pytest.raises(MissingField, match="and 80 more"):
        fill("{{ inputs.x }}", {f"field-{number}": 1 for number in range(100)})


def test_what_is_neither_text_nor_json_is_an_error() -> None:
    with pytest.raises(TypeError, match="a object cannot stand in a prompt"):
        fill("{{ inputs.x }}", {"x": object()})


def test_a_template_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Template("a {{ inputs }}"))).fill("b") == "a b"


literal = st.text().filter(lambda text: "{{" not in text and not text.endswith(("{", "\\")))
names = st.from_regex(r"[a-z]\w{0,5}", fullmatch=True)


@given(st.text(alphabet=st.sampled_from("{}\\ \ninputsa.[]\"'|#%0é")) | st.text())
def test_a_text_is_refused_or_kept_but_for_its_places(text: str) -> None:
    try:
        template = Template(text)
    except UsageError:
        return
    if not template.places:
        kept = template.fill({})
        assert kept == text or "\\{{" in text  # an escaped place loses its backslash, and nothing else does
        assert len(text) - len(kept) == sum(
            text.count(f"\\{piece}") > 0 for piece in template.pieces if str(piece).startswith("{{")
        ) or kept.replace("{{", "\\{{").count("\\") >= text.count("\\")


@given(st.lists(st.tuples(literal, names, st.text()), max_size=4), literal)
def test_literal_text_comes_back_to_the_letter_around_what_fills_the_places(
    parts: list[tuple[str, str, str]], end: str
) -> None:
    inputs = {name: value for _, name, value in parts}
    text = "".join(f"{before}{{{{ inputs.{name} }}}}" for before, name, _ in parts) + end
    assert fill(text, inputs) == "".join(f"{before}{inputs[name]}" for before, name, _ in parts) + end


@given(st.text())
def test_whatever_fills_a_place_is_never_read_as_a_template(value: str) -> None:
    assert fill("<{{ inputs }}>", value) == f"<{value}>"

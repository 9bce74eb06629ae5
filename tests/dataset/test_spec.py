"""Evaluators are written as Pydantic Evals writes them, and read back as what they were."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError

ARGUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
SPECS = st.builds(
    lambda name, positional, keywords: EvaluatorSpec(
        name=name, positional=positional, keywords={} if positional else keywords
    ),
    st.text(min_size=1, max_size=5),
    st.just(()) | st.tuples(ARGUMENTS),
    st.dictionaries(st.text(max_size=3), ARGUMENTS, max_size=2),
)


@pytest.mark.parametrize(
    ("written", "positional", "keywords"),
    [
        ("Equals", (), {}),
        ({"Equals": 3}, (3,), {}),
        ({"Equals": None}, (None,), {}),
        ({"Equals": ["a"]}, (["a"],), {}),
        ({"Equals": {"value": 3, "evaluation_name": "x"}}, (), {"value": 3, "evaluation_name": "x"}),
        ({"Equals": {1: 3}}, ({1: 3},), {}),
        ({"name": "Equals", "arguments": None}, (), {}),
        ({"name": "Equals", "arguments": [{"a": 1}]}, ({"a": 1},), {}),
        ({"name": "Equals", "arguments": {"value": 3}}, (), {"value": 3}),
    ],
)
def test_every_form_is_read(written: Any, positional: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    spec = EvaluatorSpec.parse(written, where="a.yaml:3")
    assert spec == EvaluatorSpec(name="Equals", positional=positional, keywords=keywords)
    assert spec.where == "a.yaml:3"


@given(SPECS)
def test_what_is_written_reads_back_as_the_same(spec: EvaluatorSpec) -> None:
    assert EvaluatorSpec.parse(spec.written()) == spec


@pytest.mark.parametrize(
    "written", [3, None, ["Equals"], {}, {"a": 1, "b": 2}, {1: 2}, {"name": "Equals", "arguments": [1, 2]}]
)
def test_what_is_no_evaluator_is_refused_with_its_place_and_the_forms_there_are(written: Any) -> None:
    with pytest.raises(DatasetError, match=r"^a\.yaml:3: .* is not an evaluator") as refusal:
        EvaluatorSpec.parse(written, where="a.yaml:3")
    assert "EqualsExpected" in refusal.value.hint

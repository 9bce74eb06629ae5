"""What a template is given: all that is wrong is told at once, with what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators.templates.catalogue import template_of
from paceline.evaluators.templates.given import given_to, parameters_of, threshold_of


def refused(name: str, **given: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        given_to(template_of(name), given)
    return caught.value


def test_everything_that_is_missing_is_named_and_so_is_how_to_ask() -> None:
    error = refused("groundedness")
    assert str(error) == "groundedness: output is missing; context is missing"
    assert error.hint == 'evaluate("groundedness", output=..., context=...); it also takes input, model'


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        (
            "groundedness",
            {"response": "a", "context": "b"},
            "output is missing (write output= for response=)",
        ),
        (
            "groundedness",
            {"output": "a", "contexts": ["b"]},
            "context is missing (write context= for contexts=)",
        ),
        ("toxicity", {"text": "a"}, "output is missing (write output= for text=)"),
        ("bleu_score", {"output": "a", "reference": "b"}, "(write hypothesis= for output=)"),
        ("contains", {"text": "a", "keywords": ["b"]}, "(write keyword= for keywords=)"),
    ],
)
def test_a_name_from_elsewhere_is_told_and_not_taken(name: str, given: dict[str, Any], told: str) -> None:
    assert told in str(refused(name, **given))


def test_an_input_that_nobody_asked_for_is_refused() -> None:
    error = refused("toxicity", output="a", context="b")
    assert str(error) == "toxicity: there is no input 'context'"


def test_none_is_not_given_and_an_empty_text_is() -> None:
    assert "context is missing" in str(refused("groundedness", output="a", context=None))
    given = given_to(template_of("groundedness"), {"output": "", "context": "b", "input": None})
    assert given.inputs == {"output": "", "context": "b"}


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("contains", {"text": ["a"], "keyword": "b"}, "text is a list, and wants text"),
        ("contains", {"text": 5, "keyword": "b"}, "text is 5, and wants text"),
        ("contains", {"text": "a", "keyword": "b", "case_sensitive": "no"}, "wants true or false"),
        ("length_less_than", {"text": "a", "max_length": 2.5}, "max_length is 2.5, and wants whole number"),
        ("json_diff", {"output": "{", "expected": "{}"}, "output is '{', and wants JSON"),
        ("json_diff", {"output": object(), "expected": {}}, "and wants JSON"),
        (
            "rouge_score",
            {"reference": "a", "hypothesis": "b", "rouge_type": "rouge9"},
            "wants rouge1 | rouge2 | rougeL",
        ),
        ("groundedness", {"output": "a", "context": object()}, "and wants text or JSON"),
        ("rmse", {"output": [float("nan")], "expected": [1]}, "wants number or list of numbers"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused_and_never_scored(
    name: str, given: dict[str, Any], told: str
) -> None:
    assert told in str(refused(name, **given))


def test_numbers_that_stand_as_text_are_read() -> None:
    template = template_of("length_less_than")
    assert given_to(template, {"text": "a", "max_length": "3"}).parameters == {"max_length": 3}


def test_a_rule_of_ones_own_is_shown_whatever_is_given_besides() -> None:
    template = template_of("deterministic_evals")
    given = given_to(template, {"rule_prompt": "Which?", "choices": ["a", "b"], "anything": {"x": 1}})
    assert given.inputs == {"anything": {"x": 1}}
    assert given.parameters == {"rule_prompt": "Which?", "choices": ("a", "b")}
    assert "what is to be judged is missing" in str(
        refused("deterministic_evals", rule_prompt="w", choices=["a"])
    )


def test_parameters_alone_are_read_where_inputs_are_still_to_come() -> None:
    assert parameters_of(template_of("ndcg_at_k"), {"k": "5"}) == {"k": 5}
    with pytest.raises(UsageError, match="keyword is missing"):
        parameters_of(template_of("contains"), {})
    with pytest.raises(UsageError, match="no input 'top_k'"):
        parameters_of(template_of("ndcg_at_k"), {"top_k": 5})


@pytest.mark.parametrize(
    ("name", "asked", "holds"),
    [
        ("context_adherence", None, 0.5),
        ("context_adherence", 0.8, 0.8),
        ("bleu_score", 1, 1.0),
        ("rmse", None, None),
        ("rmse", 0.9, 0.9),
        ("groundedness", None, 0.5),
        ("customer_agent_query_handling", 0.6, 0.6),
    ],
)
def test_a_threshold_is_held_against_the_score(name: str, asked: Any, holds: float | None) -> None:
    assert threshold_of(template_of(name), asked) == holds


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("groundedness", 0.7),
        ("contains", 0.5),
        ("tone", 0.5),
        ("bleu_score", 50),
        ("bleu_score", "high"),
        ("rmse", True),
    ],
)
def test_a_threshold_that_nothing_can_be_held_against_is_refused(name: str, asked: Any) -> None:
    with pytest.raises(UsageError):
        threshold_of(template_of(name), asked)

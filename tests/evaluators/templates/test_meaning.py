"""Templates that are judged by vectors: how close texts lie to each other."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, evaluate
from paceline.errors import UsageError
from paceline.evaluators import Template
from paceline.evaluators.templates.findings import Undefined
from paceline.evaluators.templates.meaning import cosine
from tests.evaluators.judges.stage import judged

PLACES = {
    "cat": (1.0, 0.0),
    "kitten": (0.8, 0.6),
    "car": (0.0, 1.0),
    "A kitten sleeps": (0.9, 0.19**0.5),
    "It rains": (0.0, -1.0),
}


class Places:
    """A model of embeddings that knows a few texts, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: list[str]) -> list[tuple[float, ...]]:
        self.asked.append(texts)
        return [PLACES[text] for text in texts]


def test_the_similarity_is_the_cosine() -> None:
    places = Places()
    result = evaluate("embedding_similarity", output="kitten", expected="cat", model=places)
    assert [result.value, result.score] == pytest.approx([0.8, 0.8])
    assert result.passed is True
    assert places.asked == [["kitten", "cat"]]
    assert evaluate("embedding_similarity", output="car", expected="cat", model=places).passed is False
    opposite = evaluate("embedding_similarity", output="It rains", expected="car", model=places)
    assert (opposite.value, opposite.score) == (-1, 0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((1, 0), (0, 2), 0), ((3, 4), (3, 4), 1), ((1, 1), (-1, -1), -1), ((1, 2), (3, 1), 5 / math.sqrt(50))],
)
def test_cosine_by_hand(one: Any, other: Any, expected: float) -> None:
    assert cosine(one, other) == pytest.approx(expected)


def test_a_vector_without_a_direction_is_close_to_nothing_and_that_is_no_0() -> None:
    with pytest.raises(Undefined):
        cosine((0, 0), (1, 0))


@pytest.mark.parametrize(
    ("more", "value"),
    [({}, 2 / 3), ({"similarity_threshold": 0.95}, 1 / 3), ({"match_all": True}, 0)],
)
def test_phrases_are_there_to_the_letter_or_by_a_sentence_that_is_close(more: Any, value: float) -> None:
    places = Places()
    given: dict[str, Any] = {"output": "A kitten sleeps. It rains!", "expected": ["it rains", "cat", "car"]}
    assert evaluate("semantic_list_contains", model=places, **given, **more).value == pytest.approx(value)
    assert places.asked == [["cat", "car", "A kitten sleeps", "It rains"]]


def test_what_is_there_to_the_letter_needs_no_vector() -> None:
    places = Places()
    result = evaluate("semantic_list_contains", output="a cat", expected="cat", model=places)
    assert (result.value, places.asked) == (1, [])


@pytest.mark.parametrize(
    "vectors", [[[1.0]], [[1.0, 0.0], [1.0]], [[], []], [[math.nan, 1.0], [1.0, 0.0]], ["ab", "cd"]]
)
def test_vectors_that_are_none_are_a_failure_and_no_score(vectors: Any) -> None:
    result = evaluate("embedding_similarity", output="a", expected="b", model=lambda _: vectors)
    assert (result.status, result.score, result.passed) == ("failed", None, None)


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (None, "wants a model of embeddings"),
        ("anthropic:claude-haiku-5-5", "no model of embeddings"),
        ("openai-responses:gpt-5.4", "no model of embeddings"),
        ("openai:text-embedding-3-small", "OPENAI_API_KEY"),
        ("text-embedding-3-small", "no model"),
    ],
)
def test_a_judge_is_no_model_of_embeddings_and_there_is_no_default(model: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        evaluate("embedding_similarity", output="a", expected="b", model=model)


def test_in_a_run_it_is_an_evaluator_whose_findings_are_on_record(tmp_path: Path) -> None:
    places = Places()
    template = Template("embedding_similarity", model=places, threshold=0.7)
    assert judged(template, "kitten", "cat")["embedding_similarity_pass"] == (True, "cosine 0.800")
    dataset = Dataset(
        cases=[Case(inputs="kitten", expected_output="cat")],
        evaluators=[Template("embedding_similarity", model="sim"), Template("is_json")],
    )
    report = dataset.evaluate_sync(lambda text: text, journal=tmp_path / "run", progress=False)
    assert report.cases[0].scores["embedding_similarity"].reason.startswith("cosine 0.")  # type: ignore[union-attr]
    assert '"kind":"verdict"' in (tmp_path / "run" / "journal.jsonl").read_text()
    with pytest.raises(UsageError, match="wants a model of embeddings"):
        Dataset(cases=[Case(inputs="x")], evaluators=[Template("embedding_similarity")]).evaluate_sync(
            lambda text: text, journal=False
        )


def test_a_function_may_wait() -> None:
    async def places(texts: list[str]) -> list[tuple[float, ...]]:
        await asyncio.sleep(0)
        return [PLACES[text] for text in texts]

    assert evaluate("embedding_similarity", output="cat", expected="cat", model=places).value == 1

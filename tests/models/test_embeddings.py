"""Models of embeddings, through the official SDK against the simulated provider, and in this process."""

from __future__ import annotations

import asyncio

import pytest

from paceline.models.embeddings import embedder
from tests.sim.served import served

pytest.importorskip("openai")
TEXTS = ["a cat sat on the mat", "a cat sat on a mat", "stocks fell sharply today"]


def test_a_hosted_model_gives_the_vectors_that_its_provider_gives() -> None:
    with served() as sim:
        model = embedder(f"openai-compatible:embed@{sim.url}/v1")
        found = asyncio.run(model.embed(TEXTS))
        seen = sim.stats()
    here = asyncio.run(embedder("sim").embed(TEXTS))
    assert found.vectors == tuple(tuple(map(pytest.approx, each)) for each in here.vectors)
    assert (found.model, found.simulated, here.simulated) == ("embed", True, True)
    assert found.usage is not None
    assert (seen.arrived, seen.accepted) == (1, 1)
    assert model.name == f"openai-compatible:embed@{sim.url}/v1"


def test_texts_of_like_words_lie_closer_and_every_text_has_a_place() -> None:
    one, like, other = asyncio.run(embedder("sim").embed(TEXTS)).vectors
    assert sum(a * b for a, b in zip(one, like, strict=True)) > sum(
        a * b for a, b in zip(one, other, strict=True)
    )
    lonely = asyncio.run(embedder("sim").embed([f"w{number}" for number in range(2000)])).vectors
    assert all(any(each) for each in lonely)

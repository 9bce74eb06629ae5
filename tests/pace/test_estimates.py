"""What a call will be charged before anybody has counted, and what it was charged afterwards."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.calls import Usage
from paceline.pace.estimates import FIRST_ANSWER, Estimates
from paceline.pace.messages import PoolId
from paceline.pace.providers import ANTHROPIC, AZURE, COMPATIBLE, OPENAI, Endpoint, Provider
from paceline.pace.requests import Seen


def call(provider: Provider = COMPATIBLE, *, characters: int = 4_000, most: int | None = None) -> Seen:
    return Seen(
        provider=provider,
        endpoint=Endpoint(provider.wire, "/chat/completions"),
        pool=PoolId(provider.name, "https://h", "m"),
        characters=characters,
        max_tokens=most,
    )


def test_the_first_call_is_guessed_from_its_characters() -> None:
    assert Estimates().tokens(call()) == 1_000 + FIRST_ANSWER


@pytest.mark.parametrize(
    ("provider", "most", "tokens"),
    [
        (COMPATIBLE, 100, 1_100),  # the answer is bounded
        (OPENAI, 5_000, 5_000),  # the greater of prompt and max_tokens
        (OPENAI, 100, 1_000),
        (AZURE, 5_000, 6_000),  # the sum of both
        (OPENAI, None, 1_000 + FIRST_ANSWER),
    ],
)
def test_where_max_tokens_is_charged_on_arrival_it_is_what_counts(
    provider: Provider, most: int | None, tokens: float
) -> None:
    assert Estimates().tokens(call(provider, most=most)) == tokens


def test_answers_teach_what_prompts_and_answers_are_like() -> None:
    estimates = Estimates()
    for _ in range(60):
        estimates.learn(call(), Usage(input=2_000, output=40))
    assert estimates.tokens(call()) == pytest.approx(2_040, rel=0.01)
    other = PoolId("openai-compatible", "https://h", "another")
    assert estimates.tokens(msgspec.structs.replace(call(), pool=other)) == 1_000 + FIRST_ANSWER


def test_what_was_charged_is_what_was_counted_but_never_less_than_was_reserved() -> None:
    estimates = Estimates()
    usage = Usage(input=100, output=20, cached=80)
    assert estimates.charged(call(), 500.0, usage) == 120
    assert estimates.charged(call(OPENAI, most=400), 500.0, usage) == 500
    assert estimates.charged(call(OPENAI), 500.0, usage) == 120
    assert estimates.charged(call(ANTHROPIC), 500.0, usage) == 40
    assert estimates.charged(call(), 500.0, None) is None
    assert estimates.charged(call(), 500.0, Usage(output=3)) is None


COUNTS = st.integers(0, 10**9) | st.none()


@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), st.builds(Usage, input=COUNTS, output=COUNTS, cached=COUNTS)),
        max_size=20,
    )
)
def test_whatever_is_counted_a_guess_is_a_number_that_can_be_asked_for(told: list[tuple[int, Usage]]) -> None:
    estimates = Estimates()
    for characters, usage in told:
        seen = call(characters=characters)
        assert 0 <= estimates.tokens(seen) < 10**11
        estimates.learn(seen, usage)
        charged = estimates.charged(seen, 10.0, usage)
        assert charged is None or charged >= 0

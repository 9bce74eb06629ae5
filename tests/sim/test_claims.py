"""What a text claims, held against a source by words in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.sim.claims import supported

SOURCE = (
    "The museum opened in 1977 and was designed by Renzo Piano and Richard Rogers. It does not open on "
    "Tuesdays. About 3,000,000 people visit it each year."
)


@pytest.mark.parametrize(
    "claim",
    [
        "Renzo Piano designed the museum.",
        "The museum was opened in 1977.",
        "It has 3000000 visits a year.",
        "The museum is not open on Tuesdays.",
        "the MUSEUM opened in 1977",
        "Answer 3: The museum opened in 1977.",
    ],
)
def test_a_claim_whose_words_are_there_is_supported(claim: str) -> None:
    assert supported(claim, SOURCE).unsupported == ()


@pytest.mark.parametrize(
    "claim",
    [
        "The museum opened in 1978.",
        "Norman Foster designed the museum.",
        "The museum is open on Tuesdays.",
        "The museum never opened in 1977.",
        "The museum has a garden with old trees.",
    ],
)
def test_a_claim_with_another_name_or_number_or_that_denies_is_not(claim: str) -> None:
    assert supported(claim, SOURCE).unsupported == (claim.removesuffix("."),)


def test_each_sentence_is_a_claim_and_what_claims_nothing_is_none() -> None:
    found = supported("The museum opened in 1977. It opened in 1980! It is.", SOURCE)
    assert (found.claims, found.unsupported, found.share) == (2, ("It opened in 1980",), 0.5)
    assert supported("", SOURCE).share == 1
    assert supported("It is what it is.", SOURCE).claims == 0


@given(
    st.lists(
        st.sampled_from(["Ann", "met", "Bob", "in", "Paris", "1999", "twice", "slowly"]), min_size=1
    ).map(" ".join)
)
def test_a_text_supports_itself(text: str) -> None:
    assert supported(text, text).unsupported == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_text_can_be_held_against_every_other(text: str, source: str) -> None:
    assert 0 <= supported(text, source).share <= 1

"""Ceilings: which of all that people have set holds for a pool, and what holds for several who share one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.ceilings import limits_for, strictest
from paceline.pace.messages import Limits
from tests.pace.stands import OTHER, POOL

positive = st.one_of(st.none(), st.floats(0.1, 1e6))
some_limits = st.builds(
    Limits, window=st.one_of(st.none(), st.integers(1, 500)), rps=positive, rpm=positive, tpm=positive
)


def test_the_narrowest_name_goes_first_field_by_field() -> None:
    general = Limits(window=9, rpm=900.0, tpm=9e6)
    per_pool = {
        "openai:*": Limits(window=8, rpm=800.0),
        "gpt": Limits(window=7),
        "openai:gpt": Limits(rps=1.0),
    }
    assert limits_for(POOL, general, per_pool) == Limits(window=7, rps=1.0, rpm=800.0, tpm=9e6)
    assert limits_for(OTHER, general, per_pool) == Limits(window=8, rpm=800.0, tpm=9e6)
    assert limits_for(OTHER._replace(provider="azure"), general, per_pool) == general


def test_where_nobody_has_set_anything_nothing_holds() -> None:
    assert limits_for(POOL, Limits(), {}) == Limits()
    assert strictest([]) == Limits()


@given(st.lists(some_limits, max_size=5))
def test_what_holds_for_all_satisfies_each(everybodys: list[Limits]) -> None:
    together = strictest(everybodys)
    for name in ("window", "rps", "rpm", "tpm"):
        said = [value for limits in everybodys if (value := getattr(limits, name)) is not None]
        assert getattr(together, name) == min(said, default=None)

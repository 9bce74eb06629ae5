"""What stands in for a method is taken back, unless somebody else has put something over it."""

from __future__ import annotations

from paceline.pace.standins import StandIns


class Greeter:
    def greet(self) -> str:
        return "hello"


def test_what_stands_in_is_called_until_it_is_taken_back() -> None:
    plain = Greeter.greet
    stand_ins = StandIns()
    stand_ins.put(Greeter, "greet", lambda self: plain(self).upper())
    assert (Greeter().greet(), stand_ins.stand_in(Greeter)) == ("HELLO", True)
    stand_ins.take_back()
    assert (Greeter.greet, stand_ins.stand_in(Greeter)) == (plain, False)


def test_what_somebody_else_has_put_over_it_stays() -> None:
    plain = Greeter.greet
    stand_ins = StandIns()
    stand_ins.put(Greeter, "greet", lambda self: plain(self).upper())
    ours = Greeter.greet
    theirs = lambda self: f"{ours(self)}!"  # noqa: E731  # as tracers do it
    Greeter.greet = theirs  # type: ignore[method-assign]
    stand_ins.take_back()
    assert Greeter.greet is theirs
    assert Greeter().greet() == "HELLO!"
    Greeter.greet = plain  # type: ignore[method-assign]

"""Asking a judge: one question, one judgement, or an error. Never a verdict that nobody has given.

    judgement = await ask_judge(model, Question(rubric="It is polite.", shown={"output": text}))

A judge that cannot be reached raises what its provider raises; one whose answer cannot be read raises
`JudgeUnreadable`. Both are tried again by who calls (a run does so for its evaluators), and neither is a 0.
In a run, each judgement is on record as soon as it is there, and found again by `part` and by all that has
decided it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from paceline.evaluators.judges.attempts import attempts_in
from paceline.evaluators.judges.fingerprint import fingerprint_of, seen_by
from paceline.evaluators.judges.judgements import Judgement
from paceline.evaluators.judges.questions import Question
from paceline.evaluators.verdicts import concluded
from paceline.models import Answer, AnswerNotJson, Model
from paceline.pace.prices import price_of

if TYPE_CHECKING:
    from paceline.evaluators.judges.cache import VerdictCache

SHOWN: Final = 200
"""Characters of an unreadable answer that its error shows."""


_UNSAID: Final = {
    "refusal": "it refused to answer",
    "content_filter": "the provider's content filter cut it off",
}
"""Ends of an answer after which a verdict that stands there all the same is none."""


class JudgeUnreadable(ValueError):
    """A judge has answered, and what it has said is no judgement. Another answer may be one."""


async def ask_judge(
    model: Model,
    question: Question,
    settings: Mapping[str, Any] | None = None,
    *,
    part: str = "",
    cache: VerdictCache | None = None,
) -> Judgement:
    """Ask a model to judge. `part` names the question among those of one evaluator about one case."""
    shown = question.material()

    async def ask() -> Judgement:
        answer = await _answer_of(model, question, settings or {})
        return judgement_of(answer, question, flags=attempts_in(shown), price=_price(model, answer))

    seen, part = seen_by(fingerprint_of(model, question, settings), shown), part or "judgement"
    conclude = ask if cache is None else functools.partial(cache.judgement, seen, part, ask)
    return await concluded(part, seen, conclude, Judgement)


async def _answer_of(model: Model, question: Question, settings: Mapping[str, Any]) -> Answer:
    try:
        return await model.ask(question.messages(), schema=question.schema, **settings)
    except AnswerNotJson as error:
        if error.answer is None or (found := _json_in(error.answer.text)) is None:
            raise JudgeUnreadable(str(error)) from error
        return msgspec.structs.replace(error.answer, parsed=found)


_WRAPPED: Final = re.compile(
    r"(?:<think(?:ing)?>.*?</think(?:ing)?>)?\s*```(?:json)?\s*\n(?P<inside>.*?)\n?\s*```|"
    r"<think(?:ing)?>.*?</think(?:ing)?>(?P<after>.*)",
    re.DOTALL | re.IGNORECASE,
)


def _json_in(text: str) -> object | None:
    """The JSON of an answer that is wrapped as many models do it although they were told not to.

    The wrapping has to be all of the rest: a judge may quote what it judges, and a verdict that stands there
    is not its own.
    """
    try:
        parsed: object = msgspec.json.decode(_unwrapped(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return parsed


def _unwrapped(text: str) -> str:
    if (found := _WRAPPED.fullmatch(text.strip())) is None:
        return text
    inside: str | None = found["inside"]
    return inside if inside is not None else found["after"]


def judgement_of(
    answer: Answer, question: Question, *, flags: tuple[str, ...] = (), price: float | None = None
) -> Judgement:
    """The judgement in an answer; JudgeUnreadable where it is not one, in form or in what it says."""
    said = answer.parsed
    if answer.stop in _UNSAID:
        raise _unreadable(_UNSAID[answer.stop], answer)
    if not isinstance(said, dict):
        raise _unreadable("it is not an object", answer)
    if (name := _said_twice(answer.text)) is not None:
        raise _unreadable(f"`{name}` is there twice", answer)
    decided: dict[str, Any] = {}
    if "pass" in question.schema["properties"]:
        decided["passed"] = _truth(said.get("pass"), answer)
    if "score" in question.schema["properties"]:
        decided["score"] = _score(said.get("score"), question, answer)
    if question.choices:
        decided["choice"] = _choice(said.get("choice"), question, answer)
    reason = said.get("reason")
    return Judgement(
        **decided,
        reason=reason.strip() if isinstance(reason, str) else "",
        flags=flags,
        model=answer.model,
        simulated=answer.simulated,
        usage=answer.usage,
        price=price,
    )


def _said_twice(text: str) -> str | None:
    """A name that an object of the answer has twice. Readers of JSON take one of the two and are silent: a
    judge that says no and yes would have said yes."""
    twice: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        names = [name for name, _ in pairs]
        twice.extend(name for name in set(names) if names.count(name) > 1)

    try:
        json.loads(_unwrapped(text), object_pairs_hook=look)
    except (ValueError, RecursionError):
        return None  # what was read is not what stands in the text, so somebody else has read it
    return min(twice, default=None)


def _truth(said: object, answer: Answer) -> bool:
    if isinstance(said, bool):
        return said
    raise _unreadable(f"`pass` is {_shown(said)}, not true or false", answer)


def _score(said: object, question: Question, answer: Answer) -> float:
    scale = question.scale
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise _unreadable(f"`score` is {_shown(said)}, not a number", answer)
    if not scale.low <= said <= scale.high:  # nor is NaN
        shown = _shown(said)  # as it stands there: it may be a whole number that no float can hold
        raise _unreadable(f"the score {shown} is not on the scale, {scale.low:g} to {scale.high:g}", answer)
    if scale.whole and not float(said).is_integer():
        raise _unreadable(f"the score {said:g} is between the levels of the scale", answer)
    return float(said)


def _choice(said: object, question: Question, answer: Answer) -> str:
    if isinstance(said, str) and said in question.choices:
        return said
    raise _unreadable(f"`choice` is {_shown(said)}, not one of {', '.join(question.choices)}", answer)


def _unreadable(why: str, answer: Answer) -> JudgeUnreadable:
    return JudgeUnreadable(f"the judge's answer cannot be read: {why}; it said {_shown(answer.text)}")


def _shown(said: object) -> str:
    text = repr(said)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"


def _price(model: Model, answer: Answer) -> float | None:
    if answer.simulated:
        return None
    name, provider = getattr(model, "model", ""), getattr(model, "provider", "")
    return price_of(name, provider, answer.usage) if name else None


__all__ = ["JudgeUnreadable", "Judgement", "ask_judge", "judgement_of"]

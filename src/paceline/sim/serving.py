"""What becomes of one request: a model's answer, a fact, a refusal, or an error in the provider's own words.

    request ── read ──▶ reply made ──▶ provider: admitted or refused ──▶ delivered, in its time

The reply is made before the provider is asked, because what a call is charged for its output is known only
then. Knows requests and what is said to them. When bytes are due is `delivery`'s.
"""

from __future__ import annotations

import email.utils
import time
from functools import lru_cache, partial

import msgspec

from paceline.sim import anthropic_wire, openai_refusals
from paceline.sim.answers import Reply, reply_to
from paceline.sim.delivery import Delivery
from paceline.sim.era import Era
from paceline.sim.http import Answer
from paceline.sim.provider import Admitted, Refused
from paceline.sim.requests import Request
from paceline.sim.routes import (
    ANTHROPIC,
    ENDPOINTS,
    MODELS,
    Endpoint,
    key_of,
    missing_key,
    object_in,
)
from paceline.sim.schemas import Unusable
from paceline.sim.tally import CACHES_FROM, CACHES_IN, name_of
from paceline.sim.wire import MARK, Asked, BadRequest, Context, Dialect, Headers

JSON = ("content-type", "application/json")
EVENTS = ("content-type", "text/event-stream; charset=utf-8")


class Visit:
    """One request, and the words of the provider whose SDK has sent it."""

    __slots__ = ("answer", "dialect", "era", "key", "number", "request")

    def __init__(self, era: Era, request: Request, answer: Answer, dialect: Dialect) -> None:
        era.requests += 1
        self.number = era.requests
        self.era = era
        self.request = request
        self.answer = answer
        self.dialect = dialect
        self.key = key_of(request.headers)

    def headers(self, admitted: Admitted | Refused | None = None) -> Headers:
        """Those of an answer to it."""
        now = time.time()
        advertised = self.era.told(admitted.advertised) if admitted is not None else None
        return [JSON, MARK, ("date", _date(int(now))), *self.dialect.headers(advertised, self.number, now)]

    async def fail(self, status: int, message: str, *, param: str | None = None) -> None:
        """An error that no waiting helps."""
        body = self.dialect.failure(status, message, self.number, param=param)
        await self.answer.whole(status, self.headers(), body)

    async def refuse(self, refused: Refused, model: str) -> None:
        """A refusal, in its time."""
        self.era.tally.refused[refused.status] += 1
        arrived = self.era.now()
        headers = self.headers(refused)
        if refused.retry_after is not None:
            wait = self.era.outside(refused.retry_after)
            headers += self.dialect.waits(wait, exactly=self.era.scale != 1)
        body = self.dialect.refusal(refused, model, self.number)
        await self.era.until(arrived + refused.seconds)
        await self.answer.whole(refused.status, headers, body)

    # What no model is asked for

    async def wrong_method(self, right: str) -> None:
        """405."""
        self.era.tally.invalid += 1
        message = f"{self.request.method} is not allowed here: use {right}."
        body = self.dialect.failure(405, message, self.number)
        await self.answer.whole(405, [*self.headers(), ("allow", right)], body)

    async def unknown_place(self) -> None:
        """404."""
        self.era.tally.invalid += 1
        places = ", ".join(f"/v1/{place}" for place in ENDPOINTS)
        message = f"There is nothing at {self.request.path[:200]}: the simulated provider has {places}."
        await self.fail(404, message)

    async def is_let_in(self) -> bool:
        """Whether it shows a key, and one that is accepted; whoever does not is told so."""
        if not await self.shows_a_key():
            return False
        if self.era.provider.lets_in(self.key, self.era.now()):
            return True
        self._turned_away()
        body = self.dialect.refusal(Refused(401, "auth", 0.0), "", self.number)
        await self.answer.whole(401, self.headers(), body)
        return False

    async def shows_a_key(self) -> bool:
        """Whether it shows any."""
        if not self.key:
            self._turned_away()
            await self.fail(401, missing_key(self.dialect))
        return bool(self.key)

    def _turned_away(self) -> None:
        self.era.tally.turned_away += 1
        self.era.tally.refused[401] += 1

    async def models(self, wanted: str) -> None:
        """The list of models, or one of them."""
        if self.request.method != "GET":
            await self.wrong_method("GET")
            return
        if not await self.is_let_in():
            return
        known = self.era.scenario.models
        form = anthropic_wire if self.dialect is ANTHROPIC else openai_refusals
        if not wanted:
            found = form.models_of(known or MODELS)
        elif not known or wanted in known:
            found = form.model_of(wanted)
        else:
            await self.fail(404, f"The model `{wanted[:200]}` does not exist.")
            return
        await self.answer.whole(200, self.headers(), msgspec.json.encode(found))

    async def count_tokens(self) -> None:
        """What a request for messages would count, free of charge."""
        if self.request.method != "POST":
            await self.wrong_method("POST")
            return
        if not await self.is_let_in():
            return
        try:
            # The number of tokens in an answer plays no part; a request to count does not say it.
            asked = ENDPOINTS["messages"].form.read({"max_tokens": 1, **object_in(self.request.body)})
        except BadRequest as problem:
            await self.misunderstood(problem)
            return
        body = msgspec.json.encode(anthropic_wire.counted(asked))
        await self.answer.whole(200, self.headers(), body)

    async def misunderstood(self, problem: BadRequest) -> None:
        """What was asked cannot be answered, and asking again will not help."""
        self.era.tally.invalid += 1
        await self.fail(problem.status, problem.message, param=problem.param)

    # What one is asked for

    async def call(self, endpoint: Endpoint) -> None:
        """A call of a model."""
        if not await self.shows_a_key():
            return
        era = self.era
        provider = era.provider
        try:
            asked = endpoint.form.read(object_in(self.request.body))
            reply = reply_of(endpoint, asked, era)
        except BadRequest as problem:
            await self.misunderstood(problem)
            return
        arrived = era.begin()
        met = provider.arrive(
            arrived,
            key=self.key,
            model=asked.prompt.model,
            input_tokens=asked.input_tokens,
            output_tokens=reply.tokens * asked.choices,
            max_tokens=asked.most_tokens,
        )
        if isinstance(met, Refused):
            await self.refuse(met, asked.prompt.model)
        else:
            await self._answer(endpoint, asked, reply, met, arrived)

    async def _answer(
        self, endpoint: Endpoint, asked: Asked, reply: Reply, admitted: Admitted, arrived: float
    ) -> None:
        era = self.era
        cached, written = self._cache(endpoint, asked)
        prompt = name_of(asked.prompt)
        era.tally.accepted(prompt, asked, cached, reply.tokens * asked.choices)
        context = Context(number=era.provider.accepted, created=time.time(), cached=cached, written=written)
        delivery = Delivery(era, self.answer, admitted, arrived, self.headers(admitted))
        left = None
        try:
            await self._deliver(endpoint, asked, reply, context, delivery)
            left = max(era.now(), delivery.ends)
        finally:
            if left is None:
                era.tally.hung_up += 1
            elif admitted.fault in {None, "slow"}:
                era.tally.answered(prompt)
            era.provider.leave(admitted.id, era.now() if left is None else left)

    async def _deliver(
        self, endpoint: Endpoint, asked: Asked, reply: Reply, context: Context, delivery: Delivery
    ) -> None:
        fault = delivery.admitted.fault
        if fault == "error" or (fault == "stream_error" and not asked.stream):
            message = "The server had an error while processing your request."
            await delivery.failure(self.dialect.failure(500, message, self.number))
        elif asked.stream:
            form = endpoint.streamed
            delivery.headers[0] = EVENTS
            await delivery.stream(form.events(asked, reply, context), partial(form.broken, self.number))
        else:
            await delivery.whole(endpoint.form.whole(asked, reply, context))

    def _cache(self, endpoint: Endpoint, asked: Asked) -> tuple[int, int]:
        """Tokens read from the cache, and put there; by Anthropic only where it is asked to."""
        tokens = asked.input_tokens
        if tokens < CACHES_FROM or not endpoint.speaks:
            return 0, 0
        if endpoint.dialect is not ANTHROPIC:
            return self.era.tally.cached(asked.prompt, tokens), 0
        if b'"cache_control"' not in self.request.body:
            return 0, 0
        cached = self.era.tally.cached(asked.prompt, tokens)
        return cached, tokens // CACHES_IN * CACHES_IN - cached


def reply_of(endpoint: Endpoint, asked: Asked, era: Era) -> Reply:
    """What is said if the call is accepted."""
    if not endpoint.speaks:
        return Reply()
    try:
        return reply_to(asked.prompt, era.scenario.answers, era.provider.accepted)
    except Unusable as problem:
        raise BadRequest(f"Invalid schema: {problem}") from None


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return email.utils.formatdate(second, usegmt=True)

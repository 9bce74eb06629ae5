"""Driving a coroutine inside a context of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextvars import Context, ContextVar, copy_context
from typing import Any

import pytest

from paceline.engine.contexts import called_in, in_context

colour: ContextVar[str] = ContextVar("colour", default="none")


async def paint(name: str, steps: int = 3) -> str:
    colour.set(name)
    for _ in range(steps):
        await asyncio.sleep(0)
        assert colour.get() == name
    return colour.get()


def test_every_step_of_a_coroutine_runs_in_its_context_and_none_leaks() -> None:
    async def main() -> None:
        assert await in_context(copy_context(), paint("red")) == "red"
        assert colour.get() == "none"

    asyncio.run(main())


def test_two_coroutines_in_turn_on_one_loop_keep_their_colours_apart() -> None:
    async def main() -> list[str]:
        return await asyncio.gather(*(in_context(copy_context(), paint(name)) for name in ("red", "blue")))

    assert asyncio.run(main()) == ["red", "blue"]


def test_an_exception_thrown_in_reaches_the_coroutine_and_one_raised_comes_out() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            raise ValueError("given in") from None
        return "never"

    async def main() -> None:
        task = asyncio.ensure_future(asyncio.wait_for(in_context(copy_context(), stubborn()), 0.01))
        with pytest.raises(ValueError, match="given in"):
            await task

    asyncio.run(main())


@pytest.mark.parametrize("kind", [StopIteration, GeneratorExit])
def test_what_would_end_the_driver_becomes_a_runtime_error(kind: type[BaseException]) -> None:
    async def raising() -> None:
        await asyncio.sleep(0)
        raise kind("mine")

    async def main() -> None:
        with pytest.raises(RuntimeError) as caught:
            await in_context(copy_context(), raising())
        assert isinstance(caught.value.__cause__, kind)

    asyncio.run(main())

    def raising_now() -> None:
        raise kind("mine")

    with pytest.raises(RuntimeError, match=kind.__name__):
        called_in(Context(), raising_now)


def test_closing_closes_the_coroutine_within_its_context() -> None:
    seen: list[str] = []

    async def tidy() -> None:
        colour.set("red")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            seen.append(colour.get())

    async def main() -> None:
        driven = in_context(copy_context(), tidy())
        driven.send(None)
        driven.close()

    asyncio.run(main())
    assert seen == ["red"]


def test_an_awaitable_that_is_no_coroutine_is_awaited_all_the_same() -> None:
    class Later:
        def __await__(self) -> Generator[Any, None, str]:
            yield from asyncio.sleep(0).__await__()
            return colour.get()

    async def main() -> str:
        context = copy_context()
        context.run(colour.set, "green")
        return await in_context(context, Later())  # type: ignore[arg-type]

    assert asyncio.run(main()) == "green"

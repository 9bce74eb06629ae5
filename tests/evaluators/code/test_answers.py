"""Which program an answer makes, in the shapes in which models answer."""

from __future__ import annotations

import pytest

from paceline.evaluators.code.answers import code_in, defines, function_tested, program

PROMPT = '''from typing import List


def helper(n):
    return n + 1


def total(numbers: List[int]) -> int:
    """ Add them up.
    >>> total([1, 2])
    3
    """
'''

BODY = "    result = 0\n    for each in numbers:\n        result += each\n    return result\n"
WHOLE = f"def total(numbers):\n{BODY}"


def outcome(answer: str, prompt: str = PROMPT) -> object:
    names: dict[str, object] = {}
    exec(program(answer, "total", prompt).source, names)
    total = names["total"]
    assert callable(total)
    return total([1, 2, 3])


@pytest.mark.parametrize(
    "answer",
    [
        BODY,
        f"\n{BODY}\n",
        BODY.strip(),
        "result = 0\nfor each in numbers:\n    result += each\nreturn result",
        "if not numbers:\n        return 0\n    return sum(numbers)",
        "if not numbers:\n    return 0\nreturn sum(numbers)",
        "return sum(numbers)",
        WHOLE,
        f"```python\n{WHOLE}```",
        f"Here it is:\n\n```py\n{WHOLE}\n```\n\nIt adds them up.",
        f"```\n{BODY}```",
        f"  ```python\n{WHOLE}  ```",
        f"~~~python\n{WHOLE}~~~",
        f"````markdown\nnot this\n````\n```python\n{WHOLE}```",
        f"```python\n{WHOLE}```\nAs in:\n```python\n>>> total([1, 2])\n3\n```",
        f"```python\nimport math\n```\nand\n```python\n{WHOLE}```",
        f"```bash\npip install nothing\n```\n```python\n{WHOLE}```",
        f"{WHOLE}\nif __name__ == '__main__':\n    print(total([1]))\n",
        "total = sum",
        "    return sum(numbers) + helper(-1)\n",
    ],
)
def test_an_answer_in_any_shape_is_the_function(answer: str) -> None:
    assert outcome(answer) == 6


def test_without_a_prompt_the_answer_stands_alone() -> None:
    assert outcome(WHOLE, "") == 6
    assert program(WHOLE, "total", "Write a function that adds up.").source == WHOLE


def test_tests_may_use_what_the_prompt_defines_and_not_what_the_answer_does() -> None:
    assert program(BODY, "total", PROMPT).before == PROMPT
    assert program(WHOLE, "total", "Write it.").before == ""


def test_an_empty_answer_is_a_body_that_does_nothing() -> None:
    assert outcome("") is None
    assert outcome("```python\n```") is None


def test_an_answer_that_is_no_code_stays_what_it_is() -> None:
    assert program("I cannot help.", "total", PROMPT).source.endswith("    I cannot help.\n")


def test_code_without_a_fence_is_taken_whole() -> None:
    assert code_in("a = 1\n") == "a = 1\n"
    assert code_in("`a` = 1") == "`a` = 1"


def test_a_fence_that_is_not_closed_is_none() -> None:
    assert code_in("```python\na = 1\n") == "```python\na = 1\n"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def f(): ...", True),
        ("async def f(): ...", True),
        ("class f: ...", True),
        ("f = len", True),
        ("def g():\n    def f(): ...", False),
        ("def f(", False),
        ("\0", False),
        ("(" * 5000, False),
    ],
    ids=lambda each: str(each)[:20],
)
def test_what_defines_a_name(source: str, told: bool) -> None:
    assert defines(source, "f") is told


@pytest.mark.parametrize(
    ("tests", "function"),
    [
        ("assert set(similar((3, 4), (5, 6))) == set((4, 5))", "similar"),
        ("import math\nassert math.isclose(area(2), 4.0)", "area"),
        ("from math import isclose\nassert isclose(area(2), 4.0)", "area"),
        ("def check(candidate):\n    assert candidate(1)", "candidate"),
        ("assert one(two(3))", ""),
        ("assert len([1]) == 1", ""),
        ("assert (", ""),
    ],
)
def test_the_one_function_that_tests_call_is_the_one_tested(tests: str, function: str) -> None:
    assert function_tested(tests) == function

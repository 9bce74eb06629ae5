"""Answers that are Python code: the code in them, and the program that it makes with its prompt.

Models answer in several shapes: the body of the function that a prompt has begun, the whole function, either
of them in a block with a fence, with words around it. Which shape it is, is told by what the code defines,
never by trying which one passes.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings
from typing import NamedTuple

_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL
)
_PYTHON = frozenset({"", "py", "python", "python3", "py3"})


class Program(NamedTuple):
    """What is run."""

    source: str
    before: str
    """The prompt, where it is code by itself: tests may use what it defines."""


def code_in(answer: str) -> str:
    """The code of an answer: that in its blocks with a fence, where there are any, else all of it.

    Of several blocks, those that are no Python by themselves (a session, an example of output) are left out.
    """
    blocks = [match[3] for match in _FENCE.finditer(f"{answer}\n") if match[2].lower() in _PYTHON]
    if not blocks:
        return answer
    whole = [block for block in blocks if block.strip() and _tree(block) is not None]
    return "\n".join(block.rstrip("\n") + "\n" for block in whole or blocks)


def program(answer: str, entry_point: str, prompt: str = "") -> Program:
    """The program of an answer: its code after the prompt's, or as the end of the prompt's last function."""
    code = code_in(answer)
    before = prompt if prompt and defines(prompt, entry_point) else ""
    if not before or defines(code, entry_point):
        return Program(f"{before}\n\n{code}" if before else code, before)
    shapes = [f"{before.rstrip()}\n{body}" for body in _bodies(code)]
    return Program(next((each for each in shapes if _tree(each) is not None), shapes[0]), before)


def _bodies(code: str) -> list[str]:
    """Code as the body of a function: as it is, indented, or with what its first line lost of that."""
    lines = code.strip("\n").split("\n")
    if lines[0][:1] in ("", " ", "\t"):
        return ["\n".join(lines) + "\n"]
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    stripped = " " * min(margins, default=4) + "\n".join(lines) + "\n"
    return [textwrap.indent("\n".join(lines), "    ") + "\n", stripped]


def defines(source: str, name: str) -> bool:
    """Whether some code defines a function or a class of this name, or gives the name a value."""
    tree = _tree(source)
    return tree is not None and any(name in _names_defined(node) for node in tree.body)


def function_tested(tests: str) -> str:
    """The one function that tests call and do not define themselves; empty where it is not one."""
    tree = _tree(tests)
    if tree is None:
        return ""
    known = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            known |= _names_defined(node)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).split(".")[0])
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    } - known
    return called.pop() if len(called) == 1 else ""


def _tree(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an answer's escapes: they are its own
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names_defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()

"""What a simulated model says: the same to the same prompt, always.

    a rule that fits          what it says
    a tool that is called for its arguments, made to fit its schema
    the result of a tool      the result, in words
    a judge's prompt          a verdict on what it shows between its marks, see `judging`
    a schema                  a value that fits it, of the answer below
    a script                  its next line
    "What is 17 * 23?"        391
    a judge's question        yes or no, pass or fail, a score: whether the answer it is shown is the expected
                              one; where it is shown none, by chance that depends on the prompt alone
    anything else             the prompt again

A tool is only called where the caller insists, a rule says so, or the last message names it: a rehearsal must
not make up arguments for tools that do things.

Knows prompts as plain values. Knows nothing of how they arrived.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from zlib import crc32

import msgspec

from paceline.sim.judging import judgement
from paceline.sim.scenario import Answers, Rule
from paceline.sim.schemas import Material, instance

CHARS_A_TOKEN: Final = 4


class Message(msgspec.Struct, frozen=True):
    """One message of a prompt, as text."""

    role: str
    text: str


class Tool(msgspec.Struct, frozen=True):
    """A tool that may be called."""

    name: str
    schema: dict[str, Any]


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is asked."""

    model: str
    messages: tuple[Message, ...]
    """`system`, `user`, `assistant` and `tool`, in their order."""
    tools: tuple[Tool, ...] = ()
    must_call: str | None = None
    """A tool's name; "" where any will do; None where none has to be called."""
    may_call: bool = True
    schema: dict[str, Any] | None = None
    max_tokens: int | None = None

    @property
    def asked(self) -> str:
        """The last thing that somebody has said to the model."""
        said = (message.text for message in reversed(self.messages) if message.role in {"user", "tool"})
        return next(said, self.messages[-1].text if self.messages else "")

    @property
    def said_by_users(self) -> list[str]:
        """All that users have said."""
        return [message.text for message in self.messages if message.role == "user"]

    @property
    def after_a_tool(self) -> bool:
        """Whether the result of a tool is what was said last."""
        return bool(self.messages) and self.messages[-1].role == "tool"


class Call(msgspec.Struct, frozen=True):
    """A call of a tool that the model asks for."""

    tool: str
    arguments: dict[str, Any]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the model says."""

    text: str = ""
    call: Call | None = None
    cut: bool = False
    """Whether `max_tokens` has ended it."""
    tokens: int = 0


def tokens_of(text: str) -> int:
    """How many tokens a text has: a quarter of its characters, and at least one if it has any."""
    return math.ceil(len(text) / CHARS_A_TOKEN)


def reply_to(prompt: Prompt, answers: Answers, turn: int) -> Reply:
    """What is said to a prompt that is the so-manieth of all, from 0."""
    rule, found = _rule_for(prompt, answers)
    if (call := _call_for(prompt, rule)) is not None:
        said = msgspec.json.encode(call.arguments).decode()
        return Reply(call=call, tokens=tokens_of(said) + tokens_of(call.tool))
    if rule is not None and found is not None and rule.reply:
        return _cut(found.expand(rule.reply), prompt)
    if not answers.script and (verdict := _verdict(prompt, answers)) is not None:
        return _cut(verdict, prompt)
    text = answers.script[turn % len(answers.script)] if answers.script else _own_words(prompt, answers)
    if prompt.schema is not None:
        return _cut(_in_schema(text, prompt), prompt)
    if answers.output_tokens is not None:
        text = _filled(text, answers.output_tokens * CHARS_A_TOKEN)
    return _cut(text, prompt)


def _rule_for(prompt: Prompt, answers: Answers) -> tuple[Rule | None, re.Match[str] | None]:
    tools = {tool.name for tool in prompt.tools}
    for rule in answers.rules:
        if rule.call and rule.call not in tools:
            continue
        if prompt.after_a_tool != rule.on_result and (rule.call or rule.on_result):
            continue
        if rule.asked and not any(re.search(rule.asked, said) for said in prompt.said_by_users):
            continue
        if (found := re.search(rule.when, prompt.asked)) is not None:
            return rule, found
    return None, None


def _call_for(prompt: Prompt, rule: Rule | None) -> Call | None:
    """Which tool is called, if any is."""
    by_name = {tool.name: tool for tool in prompt.tools}
    if not by_name or not prompt.may_call:
        return None
    if rule is not None and rule.call:
        tool, arguments = by_name[rule.call], rule.arguments
    elif prompt.must_call is not None and not prompt.after_a_tool:
        tool, arguments = by_name.get(prompt.must_call, prompt.tools[0]), None
    else:
        named = None if prompt.after_a_tool else _named_in(prompt.asked, prompt.tools)
        if named is None:
            return None
        tool, arguments = named, None
    if arguments is None:
        arguments = instance({**tool.schema, "type": "object"}, _material(_function(prompt), prompt))
    return Call(tool.name, arguments)


def _named_in(text: str, tools: tuple[Tool, ...]) -> Tool | None:
    words = set(re.findall(r"[\w.-]+", text))
    return next((tool for tool in tools if tool.name in words), None)


def _verdict(prompt: Prompt, answers: Answers) -> str | None:
    """What is said to a judge's prompt; None to any other."""
    if prompt.schema is None or answers.otherwise == "echo":
        return None
    said = judgement(
        "\n".join(message.text for message in prompt.messages if message.role == "system"),
        "\n".join(prompt.said_by_users),
        prompt.schema,
        gullible=answers.judge == "gullible",
    )
    return None if said is None else msgspec.json.encode(said).decode()


def _own_words(prompt: Prompt, answers: Answers) -> str:
    return prompt.asked if answers.otherwise == "echo" or prompt.after_a_tool else _function(prompt)


def _in_schema(text: str, prompt: Prompt) -> str:
    try:
        if isinstance(msgspec.json.decode(text), dict):
            return text  # a script or a tool has said it as it should be already
    except msgspec.DecodeError:
        pass
    return msgspec.json.encode(instance(prompt.schema, _material(text, prompt))).decode()


def _material(text: str, prompt: Prompt) -> Material:
    try:
        number = float(text)
    except ValueError:
        number = None
    number = number if number is not None and math.isfinite(number) else None
    return Material(text, number, verdict_on(_whole(prompt)))


def _cut(text: str, prompt: Prompt) -> Reply:
    most = prompt.max_tokens
    if most is not None and tokens_of(text) > most:
        return Reply(text=text[: most * CHARS_A_TOKEN], cut=True, tokens=most)
    return Reply(text=text, tokens=tokens_of(text))


def _filled(text: str, length: int) -> str:
    filler = " and so on" * ((max(length - len(text), 0) // 10) + 1)
    return (text + filler)[: max(length, len(text))] if len(text) < length else text


# The small function of the prompt -----------------------------------------------------------------


def _function(prompt: Prompt) -> str:
    asked = prompt.asked
    if (verdict := _judgement(_whole(prompt))) is not None:
        return verdict
    result = arithmetic(asked)
    return asked if result is None else result


def _whole(prompt: Prompt) -> str:
    return "\n".join(message.text for message in prompt.messages if message.role != "assistant")


# All of these go over a text once, whatever it is: a prompt may be a megabyte of anything.
_SUM: Final = re.compile(r"[-+(\d][\d\s.()*/%+-]*")
_OPERATOR: Final = re.compile(r"\d[\s)]*[*/%+-]")
_CODE: Final = re.compile(r"\d[-/]\d")
_ASKED_FOR: Final = re.compile(r"=|what is|what's|calculate|compute|evaluate|how much|add|sum", re.IGNORECASE)
"""Without any of these, 2026-11-12 and 555-1234 are no sums."""
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def arithmetic(text: str) -> str | None:
    """The value of the last sum in a text; None where there is none."""
    text = text[-2000:].replace("×", "*").replace("÷", "/").replace("−", "-")
    found = [match.group().rstrip(" \t\r\n.(*/%+-") for match in _SUM.finditer(text)]
    for written in reversed([each for each in found if _OPERATOR.search(each)]):
        if _CODE.search(written) and not _ASKED_FOR.search(text):
            continue
        try:
            value = _value(ast.parse(written[:200], mode="eval").body)
        except (SyntaxError, ValueError, ArithmeticError, RecursionError):
            continue
        return f"{value:.10g}" if isinstance(value, float) else str(value)
    return None


def _value(node: ast.expr) -> int | float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_value(left), _value(right))
        case _:
            raise ValueError(node)


# As a judge ---------------------------------------------------------------------------------------

_PAIRS: Final = (("yes", "no"), ("pass", "fail"), ("true", "false"), ("correct", "incorrect"))
_CHOICES: Final = {
    pair: re.compile(
        rf"\b{pair[0]}\b[\"'`*.]*\s*(?:/|\||,|\bor\b)\s*(?:with\s+)?[\"'`*]*{pair[1]}\b", re.IGNORECASE
    )
    for pair in _PAIRS
}
_SCALE: Final = re.compile(
    r"(?:scor|rat|grad|scale)\w{0,9}\b[^.\n]{0,60}?\b(?P<low>\d+(?:\.\d+)?)\s*(?:-|–|\bto\b|\band\b|\.\.)\s*"
    r"(?P<high>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_EXPECTED: Final = re.compile(
    r"^[^\w\n]*(?:expected|reference|ground truth|correct)\b[^:\n]*:[ \t]*\n?(?P<text>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_GIVEN: Final = re.compile(
    r"^[^\w\n]*(?:(?:actual|given|model|candidate)\s+)?(?:output|answer|response|submission|actual)\b[^:\n]*:"
    r"[ \t]*\n?(?P<text>.+)$",
    re.IGNORECASE | re.MULTILINE,
)


def _judgement(text: str) -> str | None:
    """What a judge would say, where one is asked to say something of a kind."""
    for pair, asked_for in _CHOICES.items():
        if found := asked_for.search(text):
            word = pair[0] if verdict_on(text) else pair[1]
            return word.upper() if found.group()[:2].isupper() else word
    if scale := _SCALE.search(text):
        low, high = float(scale["low"]), float(scale["high"])
        return f"{high if verdict_on(text) else low:g}"
    return None


def verdict_on(text: str) -> bool:
    """Whether the answer shown is the expected one; of those that show none, four in five are fine."""
    expected, given = _EXPECTED.search(text), _GIVEN.search(text)
    if expected and given:
        wanted, got = (_plain(found["text"]) for found in (expected, given))
        return bool(wanted) and (wanted == got or re.search(rf"\b{re.escape(wanted)}\b", got) is not None)
    return crc32(text.encode(errors="replace")) % 5 != 0


def _plain(text: str) -> str:
    return re.sub(r"[^\w.]+", " ", text).strip(" .").casefold()

"""Any value becomes one JSON value, and comes back as what it was, or says that it cannot."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tracemalloc
import uuid
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import ModuleType
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import attr
import msgspec
import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import ValueLost
from paceline.values import MAX_DEPTH, Opaque, content_hash, decode, encode, is_lossy


class Colour(Enum):
    RED = "red"
    BLUE = ("blue", 2)


class Level(IntEnum):
    LOW = 1


class Rights(Flag):
    READ = 1
    WRITE = 2


class Pair(NamedTuple):
    left: Any
    right: Any = None


@dataclass
class Answer:
    text: Any
    parts: Any = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Frozen:
    inner: Any


@dataclass
class Indexed:
    words: list[str]

    def __post_init__(self) -> None:
        self.by_length = {len(word): word for word in self.words}

    @cached_property
    def longest(self) -> str:
        return max(self.words, key=len)


class Point(msgspec.Struct, frozen=True):
    x: Any
    y: Any = 0


class Model(pydantic.BaseModel):
    name: Any = pydantic.Field(alias="Name", default=None)
    more: Any = None


class Open(pydantic.BaseModel, extra="allow"):
    known: int = 0
    _hidden: Any = pydantic.PrivateAttr(default=1)


@attr.define
class Crate:
    content: Any


class Shout(str):
    __slots__ = ()


class Stack(list[Any]):
    pass


class Tagged(str):
    tag: str


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            same(*keys) and same(one[keys[0]], other[keys[1]]) for keys in zip(one, other, strict=True)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, set | frozenset):
        return one == other and all(any(same(item, match) for match in other) for item in one)
    if isinstance(one, Answer):
        return same(one.text, other.text) and same(one.parts, other.parts)
    if isinstance(one, float | complex):
        return repr(one) == repr(other)
    return bool(one == other)


TEXT = st.text(st.characters(), max_size=8)  # lone surrogates included
PLAIN_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
PLAIN = st.recursive(
    PLAIN_LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)
ZONES = st.none() | st.sampled_from(
    [UTC, timezone(timedelta(hours=-3, minutes=7)), ZoneInfo("Europe/Berlin")]
)
HASHABLE_LEAVES = (
    PLAIN_LEAVES
    | TEXT
    | st.integers(min_value=2**62, max_value=2**80)
    | st.floats(allow_nan=False)  # NaN is not even equal to itself: it has a test of its own
    | st.binary(max_size=8)
    | st.datetimes(timezones=ZONES)
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.uuids()
    | st.complex_numbers(allow_nan=False)
    | st.sampled_from([*Colour, *Level, Rights.READ, Rights.READ | Rights.WRITE, Shout("hey")])
    | st.sampled_from([Path("a/b"), PurePosixPath("c"), PureWindowsPath("c:/d"), 2**2500, -(2**2001)])
)
HASHABLE = st.recursive(
    HASHABLE_LEAVES,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | st.builds(Frozen, inner),
    max_leaves=4,
)
RICH = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(TEXT | st.just("$paceline") | st.just("a/b~c"), inner, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
        | st.builds(OrderedDict, st.dictionaries(TEXT, inner, max_size=3))
        | st.builds(Stack, st.lists(inner, max_size=3))
        | st.builds(bytearray, st.binary(max_size=4))
        | st.builds(Answer, inner, inner)
        | st.builds(Pair, inner, inner)
        | st.builds(Point, inner, inner)
        | st.builds(Crate, inner)
        | st.builds(Model, Name=inner, more=inner)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_plain_json_stands_for_itself(value: Any) -> None:
    assert json.loads(encode(value)) == value
    assert same(decode(encode(value)), value)


@given(RICH)
def test_a_value_comes_back_as_what_it_was(value: Any) -> None:
    raw = encode(value)
    assert not is_lossy(raw)
    assert same(decode(raw, strict=True), value)


@given(RICH)
def test_every_encoding_is_one_json_value_on_one_line(value: Any) -> None:
    raw = encode(value)
    json.loads(raw.decode("utf-8"))
    assert b"\n" not in raw


@given(RICH)
def test_what_came_back_is_written_the_same_way_again(value: Any) -> None:
    raw = encode(value)
    assert encode(decode(raw)) == raw


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("-inf"),
        -0.0,
        complex("nan+infj"),
        Decimal("sNaN"),
        datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        time(2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
        np.float64(0.1),
        np.int32(7),
        np.bool_(True),
        Counter("abca"),
        {"$paceline": {"types": {"": "set"}}, "value": []},
        {"value": [], "$paceline": 1},
        "\ud83d\ude00 \ud83d",
        "\\u0041",
        (),
        ((),),
        {(): {frozenset(): ()}},
    ],
    ids=repr,
)
def test_odd_values_come_back_too(value: Any) -> None:
    back = decode(encode(value), strict=True)
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_an_integer_too_long_for_decimals_comes_back() -> None:
    assert decode(encode([10**5000, -(10**9000)]), strict=True) == [10**5000, -(10**9000)]
    assert decode(encode(10**5000), strict=True) == 10**5000


def test_an_envelope_is_easy_to_read() -> None:
    raw = encode({"who": Pair("Ann"), "on": date(2026, 11, 18), "n": (1, 2)})
    assert json.loads(raw) == {
        "$paceline": {"types": {"/who": f"{__name__}:Pair", "/on": "date", "/n": "tuple"}},
        "value": {"who": {"left": "Ann", "right": None}, "on": "2026-11-18", "n": [1, 2]},
    }


def test_arrays_come_back_with_their_type_and_shape() -> None:
    for array in (np.eye(2, dtype=np.float32), np.zeros((0, 3), dtype=np.int8), np.array(["a", "bc"])):
        back = decode(encode(array), strict=True)
        assert back.dtype == array.dtype
        assert np.array_equal(back, array)
        assert back.shape == array.shape


def test_a_defaultdict_comes_back_without_its_factory() -> None:
    back = decode(encode(defaultdict(list, a=[1])), strict=True)
    assert type(back) is defaultdict
    assert back == {"a": [1]}
    assert back.default_factory is None


def test_what_was_set_on_an_object_apart_from_its_fields_comes_back() -> None:
    value = Indexed(["a", "bcd"])
    assert value.longest == "bcd"
    back = decode(encode(value), strict=True)
    assert back.by_length == {1: "a", 3: "bcd"}
    assert back.longest == "bcd"


def test_a_model_comes_back_with_what_was_set_and_what_is_private() -> None:
    value = Open.model_validate({"other": (1, 2)})
    value._hidden = {3}
    back = decode(encode(value), strict=True)
    assert back == value
    assert back.model_fields_set == {"other"}
    assert back.other == (1, 2)
    assert back._hidden == {3}
    assert decode(encode(Model(Name="x"))).model_dump(exclude_unset=True) == {"name": "x"}


def test_a_field_that_the_class_got_since_has_its_default() -> None:
    raw = encode([Answer("x"), Point(1), Model(Name="y"), Pair(1)])
    older = json.loads(raw)
    for item, name in zip(older["value"], ("parts", "y", "more", "right"), strict=True):
        del item[name]
        item.pop("$state", None)
    back = decode(json.dumps(older).encode(), strict=True)
    assert back == [Answer("x"), Point(1), Model(Name="y"), Pair(1)]


def changed(raw: bytes, old: str, new: str) -> bytes:
    assert old.encode() in raw
    return raw.replace(old.encode(), new.encode())


@pytest.mark.parametrize("value", [Answer("x"), Point(1), Model(Name="y"), Pair(1), Crate(2)], ids=repr)
def test_a_class_that_lost_a_field_gives_the_content_instead(value: Any) -> None:
    record = json.loads(encode(value))
    record["value"]["gone"] = 1
    back = decode(json.dumps(record).encode())
    assert isinstance(back, Opaque)
    assert back.value["gone"] == 1
    assert not back.lossy


@given(RICH)
def test_a_class_that_is_gone_gives_its_content_and_is_written_again_as_it_was(inner: Any) -> None:
    raw = changed(encode(Answer(inner)), f"{__name__}:Answer", "left.long.ago:Answer")
    back = decode(raw)
    assert back.type_name == "left.long.ago:Answer"
    assert encode(back) == raw
    with pytest.raises(ValueLost, match=r"left\.long\.ago:Answer"):
        decode(raw, strict=True)


def test_reading_imports_nothing_and_asks_no_module_for_what_it_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "waiting_module.py").write_text("class Thing: pass")
    monkeypatch.syspath_prepend(tmp_path)
    lazy = ModuleType("lazy_module")
    lazy.__getattr__ = lambda name: pytest.fail(f"asked for {name}")  # type: ignore[method-assign]
    sys.modules["lazy_module"] = lazy
    try:
        for name in ("lazy_module:Thing", "waiting_module:Thing", "json:dumps", "builtins:eval", "os:path"):
            raw = changed(encode(Answer(1)), f"{__name__}:Answer", name)
            assert isinstance(decode(raw), Opaque)
        assert "waiting_module" not in sys.modules
    finally:
        del sys.modules["lazy_module"]


def test_no_constructor_runs_on_reading() -> None:
    value = Loud(1)
    Loud.made = 0
    assert decode(encode(value), strict=True).n == 1
    assert Loud.made == 0


@dataclass
class Loud:
    n: int
    made = 0

    def __post_init__(self) -> None:
        Loud.made += 1


# ---- what cannot be kept ----


class Stubborn:
    """Raises the given thing wherever it is touched."""

    def __init__(self, error: BaseException) -> None:
        object.__setattr__(self, "_error", error)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "_error")

    def __repr__(self) -> str:
        raise object.__getattribute__(self, "_error")

    __str__ = __hash__ = __eq__ = __iter__ = __len__ = __bool__ = __repr__  # type: ignore[assignment]


def of_a_class_that_refuses() -> object:
    """Made in a function, because pytest looks into every class that a module has."""

    class Refusing(type):
        def __getattribute__(cls, name: str) -> Any:
            raise SystemExit(name)

    class Refused(metaclass=Refusing):
        pass

    return Refused()


@dataclass
class Torn:
    a: int = 1

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("torn")


class BadDict(dict[str, int]):
    def keys(self) -> Any:
        raise GeneratorExit

    def __iter__(self) -> Iterator[str]:
        raise GeneratorExit


class BadZone(tzinfo):
    def utcoffset(self, dt: datetime | None) -> timedelta:
        raise SystemExit("no")


class SurrogateRepr:
    def __repr__(self) -> str:
        return "\ud800" * 5000


class WrongRepr:
    def __repr__(self) -> str:
        return 7  # type: ignore[return-value]


ERRORS = st.sampled_from([ValueError("x"), SystemExit(3), GeneratorExit(), RecursionError(), MemoryError()])
HOSTILE = st.one_of(
    st.builds(Stubborn, ERRORS),
    st.builds(object),
    st.builds(of_a_class_that_refuses),
    st.builds(Torn),
    st.builds(BadDict, st.just({"a": 1})),
    st.builds(datetime, st.just(2026), st.just(1), st.just(1), tzinfo=st.builds(BadZone)),
    st.builds(SurrogateRepr),
    st.builds(WrongRepr),
    st.builds(iter, st.just([1])),
    st.sampled_from([len, int, Colour, os, Path("\udcff"), np.array([object()]), np.longdouble(1)]),
)
AROUND = st.recursive(
    HOSTILE | HASHABLE_LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXT, inner, max_size=3)
        | st.tuples(inner)
        | st.builds(Answer, inner)
    ),
    max_leaves=6,
)


@given(AROUND)
def test_encoding_never_raises_and_the_rest_is_kept(value: Any) -> None:
    raw = encode([value, {1, 2}])
    assert decode(raw)[1] == {1, 2}


@given(HOSTILE)
def test_what_cannot_be_kept_is_described_and_marked(value: Any) -> None:
    raw = encode({"kept": date(2026, 1, 1), "lost": value})
    assert is_lossy(raw)
    back = decode(raw)
    assert back["kept"] == date(2026, 1, 1)
    assert isinstance(back["lost"], Opaque)
    assert back["lost"].lossy
    assert len(raw) < 10_000
    assert encode(back) == raw
    with pytest.raises(ValueLost) as refusal:
        decode(raw, strict=True)
    assert refusal.value.hint


def test_a_description_says_what_it_was_without_its_address() -> None:
    back = decode(encode(object()))
    assert back == Opaque("object", "<object object>", lossy=True)
    assert decode(encode(Stubborn(KeyError("x")))).value.endswith("its repr raises KeyError>")


def test_ctrl_c_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        encode(Stubborn(KeyboardInterrupt()))


def test_a_subclass_with_attributes_keeps_its_content_and_says_that_something_is_missing() -> None:
    value = Tagged("text")
    value.tag = "t"
    raw = encode(value)
    assert is_lossy(raw)
    assert decode(raw) == Opaque(f"{__name__}:Tagged", "text", lossy=True)


def test_a_cycle_is_described_where_it_closes() -> None:
    loop: dict[str, Any] = {"a": (1,)}
    loop["self"] = [loop]
    back = decode(encode(loop))
    assert back["a"] == (1,)
    assert back["self"] == [Opaque("dict", "<dict: contains itself>", lossy=True)]


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: (x,), lambda x: {"k": x}, Answer])
def test_what_is_nested_without_end_is_cut_off_and_marked(wrap: Any) -> None:
    value: Any = 1
    for _ in range(5000):
        value = wrap(value)
    raw = encode(value)
    assert is_lossy(raw)
    assert b"levels deep" in raw or b"too deep" in raw
    back = decode(raw)
    for _ in range(50):
        back = back["k"] if isinstance(back, dict) else back.text if isinstance(back, Answer) else back[0]


def test_nesting_within_measure_is_kept() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert decode(encode(value), strict=True) == value


def test_lists_that_spell_a_billion_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paceline.values.MAX_SHARED", 1000)
    value: list[Any] = []
    for _ in range(40):
        value = [value, value]
    raw = encode(value)
    assert is_lossy(raw)
    assert len(raw) < 200_000


def test_something_shared_is_written_in_each_place() -> None:
    shared = [1, (2,)]
    assert decode(encode([shared, shared, {"x": shared}]), strict=True) == [shared, shared, {"x": shared}]


def test_with_no_stack_left_the_record_still_says_so() -> None:
    def at_the_edge(depth: int) -> bytes:
        try:
            return at_the_edge(depth + 1)
        except RecursionError:
            return encode([(0,)] * 2)

    assert type(decode(at_the_edge(0))) in (list, Opaque)


def test_long_text_is_not_copied_about() -> None:
    text = "é" * 5_000_000
    size = len(text.encode())
    tracemalloc.start()
    raw = encode({"answer": (text,)})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(raw) >= size
    assert peak < 3 * size  # the result, what it outgrew, and room to spare


def test_every_process_writes_the_same_bytes() -> None:
    program = (
        "import sys; from paceline.values import encode; "
        "words = {str(n) for n in range(50)};"
        "value = {'s': words, 'f': frozenset([(1, 'a'), 'b', 2.0]), 'o': object(), 'g': (n for n in ())};"
        "sys.stdout.buffer.write(encode(value))"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(written) == 1


# ---- envelopes of others ----


def test_a_value_kept_in_a_blob_is_asked_for_by_name() -> None:
    with pytest.raises(ValueLost, match="abc123"):
        decode(b'{"$paceline":{"blob":"abc123"}}')


@given(
    st.recursive(
        st.text(max_size=4) | st.integers(),
        lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=4), x, max_size=3),
    ),
    RICH,
    TEXT,
)
def test_a_damaged_envelope_gives_a_value_or_a_clear_error(header: Any, value: Any, pointer: str) -> None:
    record = json.loads(encode((value,)))
    for broken in (
        {"types": header},
        {"types": {pointer: "set"}},
        header,
        {"types": {"/0/x": "set", "/9": "int"}},
    ):
        raw = json.dumps({"$paceline": broken, "value": record["value"]}).encode()
        for read in (decode, is_lossy):
            with contextlib.suppress(ValueLost):
                read(raw)


def test_an_envelope_stays_one_when_someone_formats_it() -> None:
    raw = json.dumps(json.loads(encode({uuid.UUID(int=1), "x"})), indent=2).encode()
    assert decode(raw) == {uuid.UUID(int=1), "x"}
    assert not is_lossy(raw)


# ---- hashes of content ----


@given(st.dictionaries(st.text(max_size=4), RICH, min_size=2, max_size=5))
def test_the_order_of_keys_makes_no_difference_to_a_hash(content: dict[str, Any]) -> None:
    backwards = dict(reversed(content.items()))
    assert content_hash(encode(content)) == content_hash(encode(backwards))


def test_a_hash_tells_apart_what_differs() -> None:
    contents = [
        (b'"a"', b'"bc"'),
        (b'"ab"', b'"c"'),
        (b'"a"',),
        (b'"a"', b""),
        (b"1", b"1.0"),
        (b"1.0", b"1"),
    ]
    hashes = {content_hash(*raws) for raws in contents}
    assert len(hashes) == len(contents)
    assert all(len(digest) == 16 for digest in hashes)

"""Packed columns come out of a page's decoder as they went into ours."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

from paceline.pages.packing import Packed, block, pack
from tests.pages.node import in_node, needs_node

UNPACK = """(() => {
    const { head, columns } = module.unpacked(module.bytesOf(given));
    const said = ({ group, name, kind, values, rows, words }) => ({
        group, name, kind, words, rows: rows && [...rows],
        values: [...values].map((value) => Number.isNaN(value) || value === Infinity ? String(value) : value),
    });
    return { head: { ...head, columns: null }, columns: columns.map(said) };
})()"""


def unpacked(packed: bytes) -> Any:
    return in_node("parts/packing.mjs", UNPACK, b64encode(packed).decode())


@needs_node
def test_numbers_of_every_kind_texts_and_words_arrive() -> None:
    columns = [
        Packed("", "case", "text", ["a", "é😀", 'quote " and \n line', "", "</script>"]),
        Packed("", "small", "i8", [-1, 0, 1, 127, -128]),
        Packed("", "code", "u8", [0, 255, 1, 2, 3]),
        Packed(
            "label", "Tone", "u16", [0, 65535, 1, 1, 2], said={"words": ["", "kind", "rude"], "by": "Judge"}
        ),
        Packed("", "row", "u32", [0, 4294967295, 1, 2, 3]),
        Packed("", "seconds", "f32", [0, 0.5, 1.25, -2, 1e9]),
        Packed("score", "Similarity", "f64", [0.1, float("nan"), float("inf"), -1e-300, 1e300]),
    ]
    found = unpacked(pack({"rows": 5, "name": "ü"}, columns))
    assert found["head"] == {"rows": 5, "name": "ü", "columns": None}
    for column, said in zip(columns, found["columns"], strict=True):
        assert (said["group"], said["name"], said["kind"]) == (column.group, column.name, column.kind)
        assert said["values"] == [
            {"nan": "NaN", "inf": "Infinity"}.get(str(value), value) for value in column.values
        ]
        assert said["rows"] is None
    assert found["columns"][3]["words"] == ["", "kind", "rude"]


@needs_node
def test_a_column_that_few_rows_have_says_which() -> None:
    (found,) = unpacked(pack({}, [Packed("score", "Rare", "f64", [0.5], rows=[7])]))["columns"]
    assert found["rows"] == [7]
    assert found["values"] == [0.5]


@needs_node
def test_nothing_at_all_can_be_packed() -> None:
    assert unpacked(pack({}, [])) == {"head": {"columns": None}, "columns": []}
    (found,) = unpacked(pack({}, [Packed("", "case", "text", [])]))["columns"]
    assert found["values"] == []


@needs_node
def test_half_a_surrogate_in_a_name_ends_nothing() -> None:
    (found,) = unpacked(pack({}, [Packed("", "case", "text", ["a\ud800b", "c"])]))["columns"]
    assert found["values"] == ["a\ud800b", "c"]


@needs_node
def test_a_block_is_inflated_to_what_it_was() -> None:
    data = "é".encode() * 1000 + bytes(range(256))
    written = block("bodies-0", data).decode("ascii")
    found = re.fullmatch(
        r'<script type="application/octet-stream" id="bodies-0">([A-Za-z0-9+/=]+)</script>\n', written
    )
    assert found is not None
    assert len(found[1]) < len(data)
    expression = "[...await module.inflated(module.bytesOf(given))]"
    assert bytes(in_node("parts/packing.mjs", expression, found[1])) == data

"""Modules become one document: each in a scope of its own, under a policy that names the script by hash."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from paceline.pages import assembly
from paceline.pages.assembly import assembled
from tests.pages.node import SCRIPT, in_node, needs_node


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for modules that are made up."""
    (tmp_path / "script").mkdir()
    (tmp_path / "style").mkdir()
    monkeypatch.setattr(assembly, "STYLES", ())
    monkeypatch.setattr(assembly, "files", lambda _: tmp_path)
    monkeypatch.setattr(assembly, "assembled", assembled.__wrapped__)
    return tmp_path / "script"


def code_of(entry: str) -> str:
    return assembled.__wrapped__(entry).code


def test_a_module_stands_after_those_that_it_needs_and_each_stands_once(modules: Path) -> None:
    (modules / "a.mjs").write_text('import { b } from "./b.mjs";\nimport { c } from "./c.mjs";\nb(c);\n')
    (modules / "b.mjs").write_text('import { c } from "./c.mjs";\nexport const b = () => c;\n')
    (modules / "c.mjs").write_text("export const c = 1;\n")
    assert re.findall(r"^const (\$\w+) =", code_of("a.mjs"), re.MULTILINE) == ["$c", "$b", "$a"]


@needs_node
def test_names_of_one_module_are_not_seen_by_another(modules: Path) -> None:
    (modules / "a.mjs").write_text(
        'import { found as theirs } from "./parts/b.mjs";\n'
        "const found = [1];\nglobalThis.said = [...theirs(), ...found];\n"
    )
    (modules / "parts").mkdir()
    (modules / "parts" / "b.mjs").write_text(
        "const hidden = 2;\nexport function found() {\n  return [hidden];\n}\nexport class Other {}\n"
        "export async function later() {}\n"
    )
    said = in_node("parts/text.mjs", "(new Function(given)(), globalThis.said)", code_of("a.mjs"))
    assert said == [2, 1]


def test_modules_that_wait_for_each_other_are_refused(modules: Path) -> None:
    (modules / "a.mjs").write_text('import { b } from "./b.mjs";\n')
    (modules / "b.mjs").write_text('import { a } from "./a.mjs";\n')
    with pytest.raises(AssertionError, match=r"a\.mjs -> b\.mjs -> a\.mjs"):
        code_of("a.mjs")


@pytest.mark.parametrize(
    "line",
    [
        'import x from "./b.mjs";',
        'import "./b.mjs";',
        "export default 1;",
        "export { a };",
        "export * from 'b';",
    ],
)
def test_a_form_that_would_be_put_together_wrongly_is_refused(modules: Path, line: str) -> None:
    (modules / "a.mjs").write_text(f"{line}\n")
    with pytest.raises(AssertionError, match="cannot be put into a page"):
        code_of("a.mjs")


@pytest.mark.parametrize("end", ["</script>", "</SCRIPT ", "<!--"])
def test_code_that_would_end_its_element_is_refused(modules: Path, end: str) -> None:
    (modules / "a.mjs").write_text(f"const text = '{end}';\n")
    with pytest.raises(AssertionError):
        code_of("a.mjs")


ENTRIES = sorted(str(path.relative_to(SCRIPT)) for path in SCRIPT.glob("*/main.mjs"))


def test_every_module_is_part_of_some_page() -> None:
    code = "".join(assembled(entry).code for entry in ENTRIES)
    used = set(re.findall(r"^const \$(\w+) = \(\(\) => \{$", code, re.MULTILINE))
    names = (path.relative_to(SCRIPT).with_suffix("").as_posix() for path in SCRIPT.rglob("*.mjs"))
    assert used == {re.sub(r"\W", "_", name) for name in names}


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    page = assembled("report/main.mjs")
    policy = dict(part.split(" ", 1) for part in page.policy(asks=False).split("; "))
    script, style = (
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (page.code, page.style)
    )
    assert policy.pop("script-src") == script
    assert policy.pop("style-src") == style
    assert policy == {
        "default-src": "'none'",
        "connect-src": "'none'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert f"<script>{page.code}</script>" in page.script


def test_titles_and_facts_are_text() -> None:
    nasty = '"><script>alert(1)</script>'
    opening = assembled("report/main.mjs").opening(title=nasty, facts=[(nasty, nasty)], source=nasty)
    assert "<script>" not in opening
    assert opening.count("&lt;script&gt;") == 5

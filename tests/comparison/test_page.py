"""A comparison as a page in a real browser: its verdicts and sentences are those of the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.comparison import Comparison, compare
from tests.browser import ABSENT, CHROMIUM, Browser, Page
from tests.comparison.sides import crashed, graded, lettered, missed, passed, side
from tests.report.html.runs import SPICES
from tests.report.html.test_browser import AXE, PWNED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason=ABSENT),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.page() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=PWNED)
        yield page
        assert page.complaints == []
        assert page.dialogs == []
        assert all(address.startswith("file:") for address in page.requests)
        assert page.ask("window.hit") is None


def show(page: Page, compared: Comparison, folder: Path) -> None:
    page.open(compared.to_html(folder / "comparison.html").as_uri())


def test_the_verdict_stands_first_with_its_sentence(page: Page, tmp_path: Path) -> None:
    show(page, compare(lettered("p" * 12), lettered("pppp" + "f" * 8)), tmp_path)
    assert page.text(".headline .big") == "worse"
    said = page.text(".headline .said")
    assert said.startswith("100.0% in A, 33.3% in B: −66.7 points (−")
    assert said.endswith("B is worse")
    row = page.text("section[aria-labelledby=figures] tbody tr")
    assert "100.0%" in row
    assert "33.3%" in row
    assert "−66.7 points" in row
    assert "8 only in A, 0 only in B" in row
    assert "0.00781" in row


def test_what_cannot_be_told_is_said_not_to_be(page: Page, tmp_path: Path) -> None:
    compared = compare(lettered("pf"), lettered("fp"))
    show(page, compared, tmp_path)
    assert page.text(".headline .big") == "cannot tell"
    assert "cannot tell: 2 keys show" in page.text(".headline .said")


def test_keys_that_have_changed_are_listed_the_gravest_first(page: Page, tmp_path: Path) -> None:
    first = side(passed("a"), passed("b"), missed("c"), passed("gone"))
    second = side(missed("a"), crashed("b"), passed("c"), passed("new"))
    show(page, compare(first, second), tmp_path)
    assert page.texts("details.change summary") == [
        "2 keys do not pass any more",
        "1 key crashes now",
        "1 key passes now",
        "1 key is new",
        "1 key is gone",
    ]
    assert page.texts("details.change[open] li") == [
        "a passed → not passed",
        "b passed → task_error",
        "b passed → task_error",
    ]


def test_what_else_differs_is_a_warning(page: Page, tmp_path: Path) -> None:
    show(page, compare(side(passed("a")), side(passed("a", content="another question"))), tmp_path)
    assert "dataset" in page.text(".warning")


def test_of_several_runs_each_pair_can_be_chosen(page: Page, tmp_path: Path) -> None:
    runs = [lettered("p" * 12), lettered("p" * 12), lettered("f" * 12)]
    show(page, compare(*runs), tmp_path)
    assert page.text(".headline .what") == "B against A, by pass rate"
    page.ask(
        "[...document.querySelectorAll('table button')].find((each) => each.innerText === 'worse').click()"
    )
    page.until("document.querySelector('.headline .big').innerText === 'worse'")
    assert page.text(".headline .what") == "C against A, by pass rate"


def test_nothing_in_a_comparison_is_ever_markup_or_script(page: Page, tmp_path: Path) -> None:
    seen = (
        [graded(spice, 1.0, passed=True) for spice in SPICES],
        [graded(spice, 2.0, passed=False) for spice in SPICES],
    )
    sides = [side(*each, name=SPICES[n], suite=SPICES[n + 4]) for n, each in enumerate(seen)]
    show(page, compare(*sides), tmp_path)
    page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert len(page.texts("details.change li")) >= len(SPICES)
    assert page.ask("document.querySelectorAll('main script, iframe, img, form').length") == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_is_accessible_as_far_as_axe_can_tell(page: Page, tmp_path: Path, dark: bool) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `npm install` in tests/pages/node")
    page.prefer(dark=dark)
    show(page, compare(lettered("ppppffx"), lettered("pppfpxx"), lettered("ppppppp")), tmp_path)
    page.ask(f"{AXE.read_text()}; 0")
    told = page.ask(
        "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
    )
    assert told == []

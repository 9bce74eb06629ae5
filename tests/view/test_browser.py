"""The view in a real browser: what is written while somebody looks is seen, and nobody else is asked."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.journal.encoding import encode_line, seal
from paceline.journal.lock import acquire
from paceline.journal.places import locate
from paceline.journal.records import Line
from paceline.view.server import View
from tests.browser import ABSENT, CHROMIUM, Browser, Page
from tests.report.html import runs
from tests.report.html.test_browser import AXE, IMAGES, PWNED
from tests.report.journals import begin, ended, manifest, no, passing, run, scored, yes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason=ABSENT),
]
LISTED = "document.querySelector('.runs tbody tr')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.page() as page:
        yield page
        assert page.complaints == []
        assert {address.split("/")[2].split(":")[0] for address in page.requests} <= {"127.0.0.1"}


def append(place: Path, *lines: Line) -> None:
    with locate(place).journal.open("ab") as file:
        file.writelines(seal(encode_line(line)) for line in lines)


def test_the_list_shows_how_runs_stand_and_leads_to_them(page: Page, tmp_path: Path) -> None:
    runs.put(tmp_path / "one", run(suite="sums", started=2.0), *passing("a", "b"), manifest(2), ended())
    runs.put(tmp_path / "two", run(suite="capitals", started=1.0, expected=4), *passing("a"))
    with View(tmp_path, port=0) as view:
        page.open(view.url, ready=LISTED)
        first, second = page.texts(".runs tbody tr")
        assert "sums" in first
        assert "complete" in first
        assert "100.0%" in first
        assert "killed" in second
        assert "1 of 4" in second
        page.click(".runs tbody tr a")
        page.until("document.querySelector('.overview')")
        assert page.text(".bar .title") == "sums"


def test_the_list_is_searched_as_one_types(page: Page, tmp_path: Path) -> None:
    for name in ("sums", "capitals", "poems"):
        runs.put(tmp_path / name, run(suite=name), *passing("a"), manifest(1), ended())
    with View(tmp_path, port=0) as view:
        page.open(view.url, ready=LISTED)
        page.press("/")
        page.write("cap")
        page.until("document.querySelectorAll('.runs tbody tr').length === 1")
        assert "capitals" in page.text(".runs tbody")


def test_a_run_that_is_started_while_one_looks_is_in_the_list(page: Page, tmp_path: Path) -> None:
    with View(tmp_path, port=0) as view:
        page.open(view.url, ready="document.body.innerText.includes('There are no runs here yet')")
        runs.put(tmp_path / "one", run(suite="sums"), *passing("a"))
        page.until(f"{LISTED} && document.body.innerText.includes('sums')")


def test_a_run_that_goes_on_is_seen_to_go_on(page: Page, tmp_path: Path) -> None:
    place = runs.put(tmp_path / "one", run(expected=4), *passing("a"), begin("b"))
    lock = acquire(locate(place).lock)
    with View(tmp_path, port=0) as view:
        page.open(view.url, ready=LISTED)
        page.click(".runs tbody tr a")
        page.until("document.querySelector('.overview')")
        assert "● running" in page.text(".bar .state")
        assert "1 of 4" in page.text(".headline")
        append(place, scored("b", yes()), *passing("c"))
        page.until("document.querySelector('.headline').innerText.includes('3 of 4')")
        append(place, begin("d"), scored("d", no()), manifest(4), ended())
        lock.release()
        page.until("document.querySelector('.headline').innerText.includes('75.0%')")
        page.until("!document.querySelector('.bar .state').innerText.includes('running')")


def test_the_table_takes_new_cases_and_keeps_its_question(page: Page, tmp_path: Path) -> None:
    place = runs.put(tmp_path / "one", run(), *passing("first apple", "second pear"))
    with View(tmp_path, port=0) as view:
        page.open(view.url, ready=LISTED)
        page.click(".runs tbody tr a")
        page.until("document.querySelector('.overview')")
        page.press("/")
        page.write("apple")
        page.until("document.querySelector('.told strong').innerText === '1'")
        append(place, begin("third apple"), scored("third apple", no(), answer="an apple is an apple"))
        append(place, begin("fourth"), scored("fourth", no(), answer="Apple pie"))
        page.until("document.querySelector('.told strong').innerText === '3'")
        assert page.ask("document.querySelector('.question').value") == "apple"
        assert page.texts(".grid-body .name") == ["first apple", "third apple", "fourth"]
        page.press("Enter", "j", "j", "Enter")
        page.until("document.querySelector('#case-name')?.innerText === 'fourth'")
        assert "Apple pie" in page.text("article")


def chosen(page: Page, view: View) -> None:
    """Choose both runs, the later one second, and have them compared."""
    page.open(view.url, ready=LISTED)
    button = "document.querySelector('.cases-bar button')"
    assert page.ask(f"{button}.disabled")
    page.click(".runs tbody tr:nth-child(2) input")
    page.click(".runs tbody tr:nth-child(1) input")
    assert not page.ask(f"{button}.disabled")
    page.ask(f"{button}.click()")
    page.until("document.querySelector('.pair')")


def test_two_runs_are_compared_when_they_are_chosen(page: Page, tmp_path: Path) -> None:
    before = [line for n in range(12) for line in (begin(f"case {n}"), scored(f"case {n}", no()))]
    after = passing(*(f"case {n}" for n in range(12)))
    runs.put(tmp_path / "one", run(suite="before", started=1.0), *before, manifest(12), ended())
    runs.put(tmp_path / "two", run(suite="after", started=2.0), *after, manifest(12), ended())
    with View(tmp_path, port=0) as view:
        chosen(page, view)
        assert page.text(".headline .big") == "better"
        assert page.text(".headline .what") == "B against A, by pass rate"
        assert page.texts(".pair .big") == ["0.0%", "100.0%"]
        page.ask("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        page.click(".change li a")
        page.until("document.querySelector('.grid-body .grid-row')")
        assert page.text(".bar .title") == "after"
        assert page.texts(".grid-body .name") == ["case 0"]


def test_runs_that_have_nothing_in_common_say_so_and_are_shown_side_by_side(
    page: Page, tmp_path: Path
) -> None:
    runs.put(tmp_path / "one", run(suite="a", started=2.0), *passing("x"), manifest(1), ended())
    runs.put(tmp_path / "two", run(suite="b", started=1.0), *passing("y"), manifest(1), ended())
    with View(tmp_path, port=0) as view:
        chosen(page, view)
        assert "no key was run in both" in page.text(".warning")
        page.click(".pair section:nth-child(2) .legend a")
        page.until("document.querySelector('.grid-body .grid-row')")
        assert page.ask("document.querySelector('.question').value") == "is:passed"
        assert page.text(".bar .title") == "a"


def test_runs_that_are_not_there_are_said_not_to_be(page: Page, tmp_path: Path) -> None:
    with View(tmp_path, port=0) as view:
        page.open(f"{view.url}#/pair/{'0' * 12}/{'1' * 12}", ready="document.querySelector('main .warning')")
        assert page.text("main .warning") == "These cannot be shown: there is no such run"
    # The console takes note of each answer that is none.
    assert all("404" in each for each in page.complaints)
    page.complaints.clear()


def test_a_server_that_is_gone_is_said_to_be(browser: Browser, tmp_path: Path) -> None:
    runs.put(tmp_path / "one", run(), *passing("a"), manifest(1), ended())
    with browser.page() as page:
        with View(tmp_path, port=0) as view:
            page.open(view.url, ready=LISTED)
        page.until("document.querySelector('.state').innerText.includes('the server does not answer')")


@pytest.mark.parametrize("hash_", ["", "#/pair/{0}/{1}"])
def test_the_list_is_accessible_as_far_as_axe_can_tell(page: Page, tmp_path: Path, hash_: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `npm install` in tests/pages/node")
    runs.everyday(tmp_path / "one", cases=30)
    runs.put(tmp_path / "two", run(expected=4), *passing("a"))
    with View(tmp_path, port=0) as view:
        ids = [each.id for each in view.listing.runs(patience=60, now=lambda: 0.0)]
        page.open(f"{view.url}{hash_.format(*ids)}", ready=f"document.querySelector('.pair') || {LISTED}")
        page.ask(f"{AXE.read_text()}; 0")
        told = page.ask(
            "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
        )
        assert told == []


def test_names_of_runs_are_never_markup_or_script(page: Page, tmp_path: Path) -> None:
    for n, spice in enumerate(runs.SPICES):
        runs.put(
            tmp_path / f"{n}",
            run(suite=spice, name=spice, run_id=spice),
            *passing(spice),
            manifest(1),
            ended(),
        )
    page.send("Page.addScriptToEvaluateOnNewDocument", source=PWNED)
    with View(tmp_path, port=0) as view:
        page.open(view.url, ready=LISTED)
        page.until(f"document.querySelectorAll('.runs tbody tr').length === {len(runs.SPICES)}")
        assert page.ask("document.querySelectorAll('main script, iframe, img, form').length") == 0
        for spice in runs.SPICES[:12]:
            page.ask("document.querySelector('.question').value = ''")
            page.ask("document.querySelector('.question').focus()")
            page.write(spice)
        assert page.ask("window.hit") is None
        assert page.dialogs == []


def test_the_picture_of_the_list_can_be_taken(
    page: Page, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """`pytest tests/view/test_browser.py --screenshots` takes it anew; otherwise it goes nowhere."""
    folder = tmp_path / "runs"
    day, now = 86400.0, time.time()
    runs.put(
        folder / "1",
        run(suite="sums", run_id="5f1c2a90", started=now - 3 * day, repeat=5),
        *passing("a"),
        manifest(1),
        ended(),
    )
    cases = [line for n in range(200) for line in (begin(f"{n}"), scored(f"{n}", yes() if n % 9 else no()))]
    runs.put(
        folder / "2",
        run(suite="capitals", run_id="91d0be47", started=now - day),
        *cases,
        manifest(200),
        ended(),
    )
    runs.put(
        folder / "3", run(suite="capitals", run_id="c07e55a1", started=now - 7200, expected=200), *cases[:180]
    )
    place = runs.put(
        folder / "4", run(suite="capitals", run_id="0be2f8d4", started=now - 60, expected=200), *cases[:260]
    )
    lock = acquire(locate(place).lock)
    try:
        with View(folder, port=0) as view:
            page.resize(1120, 390)
            page.open(view.url, ready=LISTED)
            page.screenshot(tmp_path / "view-runs.png")
    finally:
        lock.release()
    picture = IMAGES / "view-runs.png"
    assert picture.exists()
    if request.config.getoption("--screenshots"):
        shutil.copyfile(tmp_path / "view-runs.png", picture)

"""The page in a browser: it shows what it should, runs nothing that it was given, and asks for nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.report import Report
from tests.browser import ABSENT, CHROMIUM, Browser, Page
from tests.report.html import runs
from tests.report.journals import begin, raw, run, scored, yes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason=ABSENT),
]
AXE = Path(__file__).parents[2] / "pages" / "node" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def everyday(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report with a bit of everything in it."""
    return report_of(runs.everyday(tmp_path_factory.mktemp("everyday") / "run"))


def report_of(run: Path) -> str:
    return Report.read(run).to_html(run / "report.html").as_uri()


@pytest.fixture
def page(browser: Browser, everyday: str) -> Iterator[Page]:
    """The report, with nothing to complain about before and after."""
    with browser.page() as page:
        page.open(everyday)
        yield page
        assert page.complaints == []
        assert page.requests == [everyday]


def to_cases(page: Page, question: str = "") -> None:
    page.ask(f"location.hash = {json.dumps(f'#/cases?q={question}' if question else '#/cases')}")
    page.until("document.querySelector('.grid-body .grid-row') && !document.querySelector('.pending')")


def found(page: Page) -> int:
    """How many cases the table says it shows."""
    return int(page.text(".told strong").replace(",", ""))


def names(page: Page) -> list[str]:
    return page.texts(".grid-body .name")


def ask(page: Page, question: str) -> int:
    """Put a question by hand; how many cases answer it, when all texts were read."""
    page.ask("document.querySelector('.question').value = ''")
    page.ask("document.querySelector('.question').focus()")
    page.write(question)
    page.until("!document.querySelector('.told').innerText.includes('reading')")
    return found(page)


# ---- the overview ----


def test_the_overview_says_how_many_passed_of_how_many_and_how_sure_that_is(page: Page) -> None:
    report = Report.read(Path(page.ask("document.URL").removeprefix("file://")).parent)
    figures = report.figures
    headline = page.text(".headline")
    assert f"{figures.passed.count} of {figures.passed.of}, failures included" in headline
    assert "95% interval" in headline
    legend = page.text(".accounts .legend")
    errors = figures.n_failed + figures.n_open - figures.n_not_run
    assert f"{figures.n_passed} passed" in legend
    assert f"{figures.n_not_passed} failed" in legend
    assert f"{errors} errors" in legend


def test_a_cause_leads_to_the_cases_that_have_it(page: Page) -> None:
    cause = page.ask(
        "[...document.querySelectorAll('.causes a')].find((a) => a.innerText.includes('ValueError')).href"
    )
    page.ask(f"location.href = {json.dumps(cause)}")
    page.until("document.querySelector('.grid-body .grid-row')")
    assert found(page) > 3
    assert set(page.ask("[...document.querySelectorAll('.grid-body .mark')].map((m) => m.title)")) == {
        "error"
    }


def test_slices_are_by_the_field_that_is_chosen(page: Page) -> None:
    names = page.ask("[...document.querySelector('#slice-by').options].map((o) => o.textContent)")
    assert names == ["topic", "level", "Tone"]
    assert set(page.texts("section[aria-labelledby=slices] tbody th")) == set(runs.TOPICS)
    page.choose("#slice-by", "1")
    assert set(page.texts("section[aria-labelledby=slices] tbody th")) == set("01234")


def test_every_plot_says_in_words_what_it_shows(page: Page) -> None:
    said = page.ask("[...document.querySelectorAll('svg')].map((svg) => svg.getAttribute('aria-label'))")
    assert len(said) >= 6
    assert all(said)
    assert any("Latency: median" in each for each in said)
    assert any("Cases in progress" in each for each in said)


def test_repeats_have_a_curve_and_lead_to_each_other(browser: Browser, tmp_path: Path) -> None:
    with browser.page() as page:
        page.open(report_of(runs.repeated(tmp_path / "run")))
        said = page.ask("document.querySelector('section[aria-labelledby=pass-at-k] svg').ariaLabel")
        assert said.startswith("pass@1 48.0%, pass@2 ")
        assert "; pass^1 48.0%, pass^2 " in said
        page.ask("location.hash = '#/case/6'")
        page.until("document.querySelector('.siblings')")
        assert page.text("#case-name") == "task 1 [2/5]"
        assert len(page.texts(".sibling")) == 5
        page.click(".sibling:last-child")
        page.until("document.querySelector('#case-name').innerText === 'task 1 [5/5]'")
        assert page.complaints == []


def test_a_climb_has_its_curve(browser: Browser, tmp_path: Path) -> None:
    run = runs.everyday(tmp_path / "run", cases=20)
    rows = [
        {
            "level": level,
            "tries": 40,
            "ok_rate": rate,
            "p95": 1.0,
            "rejected_share": share,
            "error_share": 0.0,
        }
        for level, rate, share in ((1, 1.0, 0.0), (10, 9.5, 0.0), (50, 20.0, 0.2))
    ]
    (run / "ramp.json").write_text(json.dumps({"format": 1, "rows": rows}))
    with browser.page() as page:
        page.open(report_of(run))
        said = page.ask("document.querySelector('section[aria-labelledby=ramp] svg').ariaLabel")
        assert said == "Answers per second by calls at a time: most, 20, with 50 at a time"
        assert page.complaints == []


# ---- the table ----


def test_only_the_rows_in_sight_exist(page: Page) -> None:
    to_cases(page)
    assert found(page) == 300
    assert page.ask("document.querySelector('.grid').getAttribute('aria-rowcount')") == "301"
    assert len(page.texts(".grid-body .grid-row")) < 60
    page.ask("document.querySelector('.grid').scrollTop = 1e9")
    page.until(
        "[...document.querySelectorAll('.grid-body .name')].some((each) => each.innerText === 'city 299')"
    )
    assert len(page.texts(".grid-body .grid-row")) < 60


def test_search_finds_what_stands_in_inputs_outputs_errors_and_reasons(page: Page) -> None:
    to_cases(page)
    assert ask(page, '"number 17 of"') == 1
    assert names(page) == ["city 17"]
    assert ask(page, '"no such city: 5"') >= 1
    wrong = [n for n in range(300) if n % 10 == 1 and n % 6 == 1 and n % 11 != 5 and n % 29 != 3]
    assert ask(page, '"expected Rome"') == len(wrong)
    assert ask(page, "nothing of this kind") == 0


def test_filters_go_by_status_evaluator_metadata_and_numbers(page: Page) -> None:
    to_cases(page)
    whole = ask(page, "")
    assert ask(page, "is:error") + ask(page, "is:passed") + ask(page, "is:failed") == whole
    assert ask(page, "topic:history") == 100
    assert ask(page, 'topic:"number theory" level:4') == 20
    assert 0 < ask(page, "Similarity<0.5") < whole
    assert ask(page, "source.page>=290") == 10
    assert ask(page, "EqualsExpected:false") == ask(page, "is:failed")
    assert ask(page, "nosuchfield:1") == 0
    assert "nothing here is called nosuchfield" in page.text(".told")


def test_the_address_of_a_question_shows_its_answer(browser: Browser, everyday: str) -> None:
    with browser.page() as page:
        page.open(f"{everyday}#/cases?q=is:failed", ready="document.querySelector('.grid-body .grid-row')")
        assert page.ask("document.querySelector('.question').value") == "is:failed"
        assert set(page.ask("[...document.querySelectorAll('.grid-body .mark')].map((m) => m.title)")) == {
            "failed"
        }
        assert page.complaints == []


def test_buttons_and_menus_write_into_the_search_field(page: Page) -> None:
    to_cases(page)
    page.click(".chip.failed")
    assert page.ask("document.querySelector('.question').value") == "is:failed"
    failed = found(page)
    assert 0 < failed < 300
    page.ask(
        "document.querySelector('.menus select').value = "
        "[...document.querySelectorAll('.menus option')].find((o) => o.textContent.startsWith('curt')).value"
    )
    page.ask("document.querySelector('.menus select').dispatchEvent(new Event('change'))")
    assert page.ask("document.querySelector('.question').value") == "is:failed Tone:curt"
    curt = found(page)
    assert 0 < curt <= failed
    page.click(".chip.failed")
    assert found(page) > curt


def test_a_heading_sorts_turns_round_and_lets_go(page: Page) -> None:
    to_cases(page)
    heads = "[...document.querySelectorAll('.grid-head [role=columnheader]')]"
    time = f"{heads}.find((each) => each.innerText.startsWith('Time'))"

    def seconds() -> list[float]:
        texts = page.texts(".grid-body .grid-row .grid-cell:nth-last-child(2)")
        factors = {"ms": 0.001, "s": 1.0}
        return [float(text.split()[0]) * factors[text.split()[1]] for text in texts]

    page.ask(f"{time}.querySelector('button').click()")
    assert page.ask(f"{time}.ariaSort") == "ascending"
    assert seconds() == sorted(seconds())
    page.ask(f"{time}.querySelector('button').click()")
    assert page.ask(f"{time}.ariaSort") == "descending"
    assert seconds() == sorted(seconds(), reverse=True)
    page.ask(f"{time}.querySelector('button').click()")
    assert page.ask(f"{time}.ariaSort") == "none"
    assert names(page)[:2] == ["city 0", "city 1"]


def test_columns_are_shown_and_hidden(page: Page) -> None:
    to_cases(page)
    before = page.texts(".grid-head [role=columnheader]")
    assert "Similarity" in before
    assert "topic" not in before
    page.click("details.columns summary")
    label = (
        "[...document.querySelectorAll('.columns label')].find((l) => l.innerText.trim() === '{}').click()"
    )
    page.ask(label.format("topic"))
    page.ask(label.format("Similarity"))
    after = page.texts(".grid-head [role=columnheader]")
    assert "topic" in after
    assert "Similarity" not in after


# ---- keys ----


def test_the_table_is_worked_by_keys(page: Page) -> None:
    to_cases(page)
    chosen = "document.querySelector('.grid-body .chosen .name').innerText"
    assert page.ask(chosen) == "city 0"
    page.press("j", "j", "ArrowDown", "k")
    assert page.ask(chosen) == "city 2"
    page.press("End")
    assert page.ask(chosen) == "city 299"
    page.press("PageUp")
    assert page.ask(chosen) != "city 299"
    page.press("Home", "j", "Enter")
    page.until("document.querySelector('#case-name')")
    assert page.text("#case-name") == "city 1"
    page.press("j")
    page.until("document.querySelector('#case-name').innerText === 'city 2'")
    page.press("Escape")
    page.until("document.querySelector('.grid-body .chosen')")
    assert page.ask(chosen) == "city 2"


def test_a_slash_searches_from_anywhere_and_escape_goes_back(page: Page) -> None:
    page.press("/")
    page.until("document.activeElement.classList.contains('question')")
    page.write("is:failed")
    page.press("j")  # written, not understood as a key
    assert page.ask("document.querySelector('.question').value") == "is:failedj"
    page.press("Escape")
    assert found(page) == 300
    page.press("Escape")
    page.press("Escape")
    page.until("document.querySelector('.overview')")


def test_a_question_mark_lists_the_keys(page: Page) -> None:
    page.press("?")
    page.until("document.querySelector('dialog[open]')")
    assert "search in the cases" in page.text("dialog")
    page.press("Escape")
    page.until("!document.querySelector('dialog')")


# ---- one case ----


def open_case(page: Page, row: int) -> None:
    page.ask(f"location.hash = '#/case/{row}'")
    page.until("document.querySelector('article.case')")


def test_a_case_shows_what_differs_from_what_was_expected(page: Page) -> None:
    open_case(page, 1)
    assert page.text("#case-name") == "city 1"
    assert page.texts("pre ins") == ["Rome"]
    assert page.texts("pre del") == ["Rom"]
    assert "expected Rome" in page.text("article")


def test_a_case_shows_its_calls_its_trajectory_and_its_patch(page: Page) -> None:
    open_case(page, 1)
    assert "openai:m" in page.text(".calls")
    assert page.texts(".conversation .who")[0].startswith("system")
    assert "look_up" in page.text(".tool-call summary")
    assert page.texts(".patch .added") == ["+new = 2"]
    assert page.texts(".patch .removed") == ["-old = 1"]


def test_an_answer_that_is_a_patch_is_shown_once_and_as_one(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "run" / "files").mkdir(parents=True)
    (tmp_path / "run" / "files" / "changes.patch").write_text(runs.PATCH)
    attributes = raw({"patch": "files/changes.patch"})
    case = [begin("a"), scored("a", yes(), answer=runs.PATCH, attributes=attributes)]
    with browser.page() as page:
        page.open(report_of(runs.put(tmp_path / "run", run(), *case)))
        open_case(page, 0)
        assert page.texts(".patch .added") == ["+new = 2"]
        assert page.texts("article h2").count("Output") == 1
        assert "Patch" not in page.texts("article h2")
        assert page.complaints == []


def test_a_case_that_failed_shows_why_and_what_was_tried_before(page: Page) -> None:
    open_case(page, 5)
    assert "ValueError: no such city: 5" in page.text(".failure")
    open_case(page, 7)
    page.until("document.querySelector('.tries')")
    assert "rate_limited" in page.text(".tries")
    assert "tried again after 2.00 s" in page.text(".tries")


def test_a_case_whose_evaluator_could_not_say_shows_that(page: Page) -> None:
    open_case(page, 3)
    assert "Tone could not say" in page.text(".failure")
    assert "RuntimeError: quota" in page.text(".failure")


def test_a_case_that_is_not_there_is_said(page: Page) -> None:
    page.ask("location.hash = '#/case/999'")
    page.until("document.querySelector('main').innerText.includes('There is no such case')")


# ---- looks ----

BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"


def test_it_is_dark_where_the_system_is_and_as_the_reader_says(browser: Browser, everyday: str) -> None:
    with browser.page(dark=True) as page:
        page.open(everyday)
        dark = page.ask(BACKGROUND)
        page.prefer(dark=False)
        light = page.ask(BACKGROUND)
        assert dark != light
        page.click("[data-role=theme]")
        assert page.ask(BACKGROUND) == dark
        page.click("[data-role=theme]")
        assert page.ask(BACKGROUND) == light
        page.prefer(dark=True)
        assert page.ask(BACKGROUND) == light
        page.click("[data-role=theme]")
        assert page.ask(BACKGROUND) == dark
        assert page.complaints == []


def test_on_paper_the_table_is_unrolled_and_controls_are_gone(page: Page) -> None:
    to_cases(page)
    page.prefer(paper=True)
    page.ask("window.dispatchEvent(new Event('beforeprint'))")
    assert len(page.texts(".grid-body .grid-row")) == 300
    assert page.ask("getComputedStyle(document.querySelector('.cases-bar')).display") == "none"
    page.prefer()
    page.ask("window.dispatchEvent(new Event('afterprint'))")
    assert len(page.texts(".grid-body .grid-row")) < 60


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out_of_a_narrow_page(page: Page, width: int) -> None:
    page.resize(width, 800)
    for hash_ in ("#/", "#/cases", "#/case/1"):
        page.ask(f"location.hash = '{hash_}'")
        page.until("document.querySelector('main').childElementCount")
        assert page.ask("document.documentElement.scrollWidth") <= width, hash_


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("hash_", ["#/", "#/cases", "#/case/1", "#/case/5"])
def test_the_page_is_accessible_as_far_as_axe_can_tell(
    browser: Browser, everyday: str, hash_: str, dark: bool
) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: `npm install` in tests/pages/node")
    with browser.page(dark=dark) as page:
        page.open(f"{everyday}{hash_}")
        page.until("document.querySelector('.overview, .grid-body .grid-row, article')")
        page.ask(f"{AXE.read_text()}; 0")
        told = page.ask(
            "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"
        )
        assert told == []


# ---- hostile input ----

PWNED = "window.pwned = () => { window.hit = true; }"


def test_nothing_that_a_run_holds_is_ever_markup_or_script(browser: Browser, tmp_path: Path) -> None:
    address = report_of(runs.hostile(tmp_path / "run"))
    with browser.page() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=PWNED)
        page.open(address)
        shape = (
            "document.querySelectorAll('script:not([type]), iframe, img, link, base, form, object').length"
        )
        ours = page.ask(shape)
        for hash_ in ("#/", "#/cases", *(f"#/case/{row}" for row in range(60))):
            page.ask(f"location.hash = '{hash_}'")
            page.until("document.querySelector('main').childElementCount")
        to_cases(page)
        for spice in runs.SPICES:
            ask(page, spice)
        for option in page.ask(
            "[...document.querySelectorAll('.menus option')].slice(0, 40).map((o) => o.value)"
        ):
            page.choose(".menus select", option)
        assert page.ask(shape) == ours
        assert page.ask("window.hit") is None
        assert page.dialogs == []
        assert page.complaints == []
        assert page.requests == [address]


def test_what_would_turn_text_round_is_shown_as_an_escape(browser: Browser, tmp_path: Path) -> None:
    with browser.page() as page:
        page.open(report_of(runs.hostile(tmp_path / "run", cases=60)))
        to_cases(page)
        text = page.ask("document.body.innerText")
        for sign in "\u202e\u202c\u2066\x1b\x00\ufeff":
            assert sign not in text
        page.ask("location.hash = '#/case/23'")
        page.until("document.querySelector('#case-name')")
        assert "\\u202egnp.exe\\u202c 23" in page.text("#case-name")


def test_a_line_of_ten_megabytes_is_cut_and_said_to_be(browser: Browser, tmp_path: Path) -> None:
    with browser.page() as page:
        page.open(report_of(runs.hostile(tmp_path / "run", cases=5)))
        page.ask("location.hash = '#/case/3'")
        page.until("document.querySelector('article')")
        assert "Only the beginning: the value has 10,000,002 bytes" in page.text("article")
        assert page.ask("document.body.innerText.length") < 200_000
        assert page.complaints == []


def test_a_file_that_was_cut_off_says_what_is_missing(browser: Browser, tmp_path: Path) -> None:
    path = Report.read(runs.everyday(tmp_path / "run", cases=40)).to_html(tmp_path / "report.html")
    whole = path.read_text()
    path.write_text(whole[: whole.index('id="bodies-0"') + 200])
    with browser.page() as page:
        page.open(path.as_uri())
        assert "failures included" in page.text(".headline")
        page.ask("location.hash = '#/case/3'")
        page.until("document.querySelector('main .warning')")
        assert "This case cannot be shown" in page.text("main")
    sheet = whole.index('<script type="application/octet-stream" id="sheet"')
    path.write_text(whole[:sheet] + whole[whole.index("<script>") :])
    with browser.page() as page:
        page.open(path.as_uri(), ready="document.querySelector('.warning')")
        assert page.text(".warning") == "This report cannot be shown: the file was cut off."


def test_without_scripts_it_says_the_figures(browser: Browser, everyday: str) -> None:
    with browser.page() as page:
        page.send("Emulation.setScriptExecutionDisabled", value=True)
        page.open(everyday, ready="document.querySelector('noscript')")
        assert "failures included" in page.ask("document.body.textContent")


# ---- the manual ----

IMAGES = Path(__file__).parents[3] / "docs" / "images"


@pytest.mark.parametrize(
    ("name", "hash_", "shown"),
    [
        ("report-overview", "#/", ".overview"),
        ("report-cases", "#/cases?q=is:failed", ".grid-body .grid-row"),
        ("report-case", "#/case/1", "article"),
    ],
)
def test_the_pictures_of_the_manual_can_be_taken(
    browser: Browser,
    everyday: str,
    tmp_path: Path,
    name: str,
    hash_: str,
    shown: str,
    request: pytest.FixtureRequest,
) -> None:
    """`pytest tests/report/html/test_browser.py --screenshots` takes them anew; otherwise they go nowhere."""
    picture = f"{name}.png"
    with browser.page(width=1120, height=700) as page:
        page.open(f"{everyday}{hash_}", ready=f"document.querySelector({json.dumps(shown)})")
        page.until("!document.querySelector('.pending')")
        page.screenshot(tmp_path / picture)
    assert (tmp_path / picture).stat().st_size > 20_000
    assert (IMAGES / picture).exists()
    if request.config.getoption("--screenshots"):
        shutil.copyfile(tmp_path / picture, IMAGES / picture)

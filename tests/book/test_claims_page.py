"""The claims page in a browser: what it shows is what the ledger holds.

Every count asserted here is computed by ``pages.claims`` with the same filters.
"""

import re
from collections import Counter
from functools import cache

import pytest

from stacklib import pages
from stacklib.evidence import VERDICTS

from . import browser as b
from .needs import BUILT

pytestmark = pytest.mark.browser

PAGE = "book/evidence/claims.html"
MOST_BYTES = 2_400  # a claim, with its rule and what it was before
SEARCH, CHAPTER, SOURCE, VERDICT = (
    f"#st-claims-{name}" for name in ("search", "chapter", "source", "verdict")
)


@cache
def table(**filters):
    """Rows of the ledger, as the command line lists them."""
    return [row.row for row in pages.claims(**filters)]


def counted(rows, of=None):
    """What the page says of these rows."""
    count = Counter(row["verdict"] for row in rows)
    words = ", ".join(f"{count[v]} {v}" for v in VERDICTS if count[v])
    total = len(table()) if of is None else of
    if len(rows) == total:
        return f"{total} claims: {words}"
    return f"{len(rows)} of {total} claims: {words}"


def shown(page):
    """Ids of the claims that are not filtered away, in the page's order."""
    return page.evaluate(
        "[...document.querySelectorAll('.st-claim:not([hidden])')]"
        ".filter(x => !x.closest('details').hidden).map(x => x.id.slice(6))"
    )


def by_chapter(rows):
    """Ids in the page's order: by chapter, then as in the ledger."""
    return [r["id"] for r in sorted(rows, key=lambda r: r["chapter"])]


def expect(page, rows):
    """The page shows these rows, and says so."""
    said = page.locator(".st-claims-count")
    said.filter(has_text=re.compile(f"^{re.escape(counted(rows))}$")).wait_for()
    assert shown(page) == by_chapter(rows)


def test_the_page_holds_every_claim_and_says_how_many(visit):
    page, faults = visit(PAGE)
    expect(page, table())
    for chapter in range(1, 11):
        rows = table(chapter=chapter)
        group = page.locator(f'.st-claims-group[data-chapter="{chapter}"]')
        assert group.locator(".st-claim").count() == len(rows)
        assert group.locator(".st-claims-sum").text_content() == counted(
            rows, len(rows)
        )
    assert not faults


def test_each_row_shows_what_the_ledger_holds(visit):
    page, _ = visit(PAGE)
    parts = {
        "text": ".st-claim-text",
        "claimed": ".st-claim-value",
        "document": ".st-claim-source",
        "verdict": ".st-verdict",
        "why": ".st-claim-reason",
    }
    read = page.evaluate(
        "(parts) => Object.fromEntries([...document.querySelectorAll('.st-claim')]"
        ".map(c => [c.id.slice(6), Object.fromEntries(Object.entries(parts)"
        ".map(([k, s]) => [k, c.querySelector(s).textContent.trim()]))]))",
        parts,
    )

    def plain(text):  # quotes and dashes are set by Sphinx
        text = re.sub("[‘’“”'\"]", "'", text)
        return re.sub(r"\s+", " ", re.sub("[–—]|--+", "-", text)).replace("…", "...")

    for row in table():
        seen = read[row["id"]]
        assert plain(seen["text"]) == plain(f"{row['claim']} {row['id']}")
        assert seen["verdict"] == row["verdict"]
        for key in ("claimed", "document", "why"):
            assert plain(seen[key]) == plain(row[key]), row["id"]


FILTERS = [
    {"search": "hbm Bandwidth"},
    {"search": "h200-ridge"},
    {"source": "004", "verdict": "cited"},
    {"chapter": "3", "source": "002", "verdict": "cited", "search": "wafer"},
]


def test_search_and_filters_leave_what_the_ledger_says(visit):
    page, faults = visit(PAGE)
    for filters in FILTERS:
        for name, value in filters.items():
            if name == "search":
                page.fill(SEARCH, value)
            else:
                page.select_option(f"#st-claims-{name}", value)
        rows = table(**filters)
        assert 0 < len(rows) < len(table())
        expect(page, rows)
        address = page.url
        assert all(f"{name}=" in address for name in filters)
        page.goto("about:blank")
        page.goto(address)  # as someone does who was sent it
        expect(page, rows)
        page.click(".st-claims-form button")
        expect(page, table())
        assert "#" not in page.url and not faults


def test_nothing_left_is_said(visit):
    page, _ = visit(PAGE)
    page.fill(SEARCH, "no such words")
    page.locator(".st-claims-count", has_text="No claim is left").wait_for()
    assert shown(page) == []


def test_it_is_used_by_keyboard_alone(visit):
    page, faults = visit(PAGE)
    page.focus(SEARCH)
    page.keyboard.type("memory wall")
    page.keyboard.press("Enter")  # sends nothing, goes nowhere
    expect(page, table(search="memory wall"))
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.locator(CHAPTER).evaluate(b.IS_FOCUSED)
    expect(page, table(chapter=1, search="memory wall"))
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Clear
    expect(page, table())
    assert page.locator(SEARCH).evaluate(b.IS_FOCUSED)
    # On to the first chapter's line, and fold it.
    for _ in range(5):
        page.keyboard.press("Tab")
    group = page.locator(".st-claims-group").first
    assert group.locator("summary").evaluate(b.IS_FOCUSED)
    page.keyboard.press("Enter")
    assert group.get_attribute("open") is None and not faults


TYPED = """(box, word) => {
  for (const letter of word) {
    box.value += letter;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
}"""


def test_the_count_is_announced(visit):
    page, _ = visit(PAGE)
    said = page.locator(".st-claims-count")
    assert said.get_attribute("role") == "status"
    assert said.get_attribute("aria-live") == "polite"
    # Typing announces once, when it pauses, not at each letter.
    page.evaluate(
        "window.said = []; new MutationObserver(() => window.said.push("
        "document.querySelector('.st-claims-count').textContent))"
        ".observe(document.querySelector('.st-claims-count'), {childList: true})"
    )
    # All letters at once: a busy machine makes pauses where a reader makes none.
    page.locator(SEARCH).evaluate(TYPED, "hbm4")
    expect(page, table(search="hbm4"))
    assert page.evaluate("window.said.length") == 1
    for name in ("search", "chapter", "source", "verdict"):
        assert page.locator(f'label[for="st-claims-{name}"]').is_visible()


def test_a_claim_has_an_address(visit, served):
    page, _ = visit(PAGE)
    for id in ("v3-experts", "bf16-marginal-rubin", "h200-ridge"):
        page.goto("about:blank")
        page.goto(f"{served}{PAGE}#claim-{id}")
        claim = page.locator(f"#claim-{id}")
        claim.wait_for()
        page.wait_for_timeout(200)
        assert claim.is_visible(), id
        assert 0 <= claim.bounding_box()["y"] < page.viewport_size["height"] - 50, id


def test_a_link_to_a_claim_that_is_filtered_away_brings_it_back(visit):
    page, _ = visit(f"{PAGE}#verdict=cited")
    expect(page, table(verdict="cited"))
    page.evaluate("location.hash = '#claim-h200-ridge'")
    expect(page, table())
    assert page.locator("#claim-h200-ridge").is_visible()
    assert page.url.endswith("#claim-h200-ridge")


def test_an_address_with_values_there_are_not_filters_nothing(visit):
    page, faults = visit(f"{PAGE}#chapter=99&verdict=fine&colour=red")
    page.wait_for_timeout(300)
    expect(page, table())
    assert not faults


@pytest.mark.parametrize(
    "look",
    [
        "light-desktop",
        "dark-phone",
        pytest.param("light-phone", marks=pytest.mark.slow),
        pytest.param("dark-desktop", marks=pytest.mark.slow),
    ],
)
def test_every_row_fits_and_can_be_read(visit, look):
    page, faults = visit(PAGE, look)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.add_style_tag(content=".st-claim { content-visibility: visible !important }")
    faults += b.overflow_faults(page) + b.contrast_faults(page)
    assert not faults, "\n".join(faults)


def test_without_javascript_everything_is_there(visit):
    page, _ = visit(PAGE, java_script_enabled=False)
    assert not page.locator(".st-claims-form").is_visible()
    text = page.locator(".st-claims-count").text_content()
    assert text == counted(table())
    groups = page.locator(".st-claims-group")
    assert groups.count() == 10
    last = groups.last
    assert not last.locator(".st-claim").first.is_visible()
    last.locator("summary").click()
    assert last.locator(".st-claim").first.is_visible()
    assert page.locator(".st-claim").count() == len(table())


def test_in_print_all_claims_stand_open_without_the_form(visit):
    page, _ = visit(PAGE)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert not page.locator(".st-claims-form").is_visible()
    assert page.locator(".st-claim").last.is_visible()


def test_the_page_is_small():
    assert (BUILT / PAGE).stat().st_size < MOST_BYTES * len(table())


def test_its_script_and_style_are_on_no_other_page(served):
    with_it = [p for p in b.pages(BUILT) if "claims.js" in (BUILT / p).read_text()]
    assert with_it == [PAGE]

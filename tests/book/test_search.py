"""What the book's search has first, for queries as a reader types them."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("playwright.sync_api", reason="browser tests: no playwright")

from . import browser as b

pytestmark = pytest.mark.browser

# What is typed, and the page that should come first.
TERMS = {
    "roofline": "chapters/01-roofline/roofline",
    "ridge point": "chapters/01-roofline/decode",
    "arithmetic intensity": "chapters/01-roofline/decode",
    "Little's law": "chapters/01-roofline/cores",
    "KV cache": "chapters/01-roofline/decode",
    "prefill": "book/glossary",
    "warps": "chapters/02-gpu/hierarchy",
    "occupancy": "chapters/01-roofline/cores",
    "tensor cores": "chapters/02-gpu/tensor-cores",
    "reticle": "chapters/02-gpu/silicon",
    "interposer": "chapters/02-gpu/package",
    "L2": "chapters/03-memory/ladder",
    "coalescing": "chapters/03-memory/coalescing",
    "sector": "chapters/03-memory/coalescing",
    "bank conflict": "chapters/03-memory/banks",
    "Swizzle": "chapters/03-memory/banks",
    "LRU": "chapters/03-memory/ladder",
    "working set": "chapters/01-roofline/roofline",
    "HBM": "chapters/03-memory/hbm",
    "DRAM": "chapters/03-memory/dram",
    "CXL": "chapters/03-memory/tiers",
}
DEVICES = {
    "H100": "book/hardware/h100_sxm",
    "a100": "book/hardware/a100_sxm_80gb",
    "H100 PCIe": "book/hardware/h100_pcie",
}
REFERENCE = re.compile(
    r"book/(api|evidence|references|how-to)|.* > (Sources|Exercises)"
)


@pytest.fixture(scope="module")
def results(served, browser):
    """The page of results of one search, as a reader opens it."""
    inside = b.context(browser, **b.DESKTOP)
    page, faults = b.watched(inside, served)
    page.goto(f"{served}search.html?q=h100")
    page.locator("#search-results li").first.wait_for()
    yield page
    inside.close()
    assert not faults


@pytest.fixture
def found(results):
    """``found(query)``: pages and titles in the order in which they are listed."""
    return lambda query: [" ".join(one) for one in results.evaluate(SEARCH, query)]


SEARCH = """query => Search._performSearch(...Search._parseQuery(query))
  .reverse().map(([page, title]) => [page, title])"""


def test_the_page_of_results_lists_them_in_that_order(results, found):
    first = results.locator("#search-results li > a").first
    page, title = found("h100")[0].split(maxsplit=1)
    assert first.get_attribute("href").startswith(f"{page}.html")
    assert first.text_content() == title


def test_a_term_finds_the_section_that_explains_it(found):
    wrong = {}
    for query, page in TERMS.items():
        results = found(query)
        if results[0].split()[0] != page:
            wrong[query] = results[:3]
    assert not wrong


@pytest.mark.parametrize("query", ["warps", "roofline", "H100"])
def test_sections_stand_before_the_reference(found, query):
    ranks = [bool(REFERENCE.match(one)) for one in found(query)]
    assert not any(ranks[:10]) and ranks == sorted(ranks), query


@pytest.mark.parametrize("query", DEVICES)
def test_a_device_comes_before_its_variants(found, query):
    assert found(query)[0].split()[0] == DEVICES[query]

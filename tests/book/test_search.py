"""What the book's search has first, for queries as a reader types them."""

import re

import pytest

from . import browser as b

pytestmark = pytest.mark.browser

# What is typed, and what must be first (a section: its folder's number and name).
FIRST = {
    "roofline": "01/roofline",
    "ridge point": "01/decode",
    "arithmetic intensity": "01/decode",
    "Little's law": "01/cores",
    "KV cache": "01/decode",
    "warps": "02/hierarchy",
    "warp divergence": "02/simt",
    "tensor cores": "02/tensor-cores",
    "reticle": "02/silicon",
    "interposer": "02/package",
    "coalescing": "03/coalescing",
    "bank conflict": "03/banks",
    "Swizzle": "03/banks",
    "HBM": "03/hbm",
    "DRAM": "03/dram",
    "CXL": "03/tiers",
    "flash attention": "04/attention",
    "paged attention": "04/mla",
    "CUDA graphs": "04/launches",
    "torch.compile": "04/fusion",
    "top-p": "04/sampling",
    "nvlink bandwidth": "06/links",
    "all-reduce": "06/collectives",
    "ring all-reduce": "06/collectives",
    "NCCL": "06/selection",
    "ZeRO": "06/sharding",
    "tensor parallelism": "06/sharding",
    "pipeline bubble": "06/pipelines",
    "MFU": "06/layouts",
    "checkpointing": "06/failures",
    "fp8": "07/formats",
    "quantization int4": "07/integers",
    "MXFP4": "07/blocks",
    "GPTQ": "07/weights",
    "GGUF": "07/files",
    "mixed precision": "07/training",
    "perplexity": "07/quality",
    "H100": "book/hardware/h100_sxm",
    "a100": "book/hardware/a100_sxm_80gb",
    "H100 PCIe": "book/hardware/h100_pcie",
    "price of an H100": "book/hardware/prices",
    "how much VRAM do I need": "08/fits",
    "TCO": "08/price",
    "LoRA": "07/annex-learning",
    "optical interconnect": "06/optics",
    "checkpoint interval": "06/failures",
    "data center power": "10/supply",
    "tokens per dollar": "08/price",
    "roofline plot": "01/roofline",
    "Blackwell": "02/package",
    "TPU vs GPU": "05/rent",
    "SLO": "08/queue",
}
# Among the first five.
EARLY = {
    "export controls": "book/glossary#term-export-controls",
    "ECC": "book/glossary#term-ECC",
    "autoscaling": "08/queue",
    "TP": "06/sharding",
    "BF16": "07/formats",
    "long context": "08/fits",
    "multi-token prediction": "08/speculation",
    "layer normalisation": "04/norms",
    "warp specialisation": "04/feed",
    "optimiser state": "06/sharding",
    "memory coalesing": "03/coalescing",
    "speculative decodnig": "08/speculation",
    "quantizaton": "07/index",
    "flash_attention": "book/api/kernels#stacklib.kernels.flash_attention",
    "L2 cache": "03/(ladder|caches)",
    "occupancy": "02/schedule",
    "occupancy ": r"book/api/gpu#stacklib\.gpu\.occupancy",
    "softmax": "04/attention",
    "Hopper": "02/hierarchy",
    "LRU": "03/ladder",
    "working set": "01/roofline",
    "how much does an H100 cost": "book/hardware/prices",
    "ocupancy": "02/schedule",
    "prefill": "book/glossary#term-prefill",
}
REFERENCE = re.compile(r"book/(api|evidence|references|how-to)|.*annex|.*#exercise")
FOUND = """query => Search._performSearch(query).reverse()
  .map(([page, title, anchor]) => page + anchor)"""
SHOWN = """() => [...document.querySelectorAll("#search-results li")].map((li) => [
  new URL(li.querySelector("a").href).pathname, li.querySelector("p").textContent])"""


@pytest.fixture(scope="module")
def results(browser, built):
    """The page of results as a reader opens it from disk, where nothing is fetched."""
    inside = b.context(browser)
    page, faults = b.watched(inside, (base := built.as_uri()))
    page.goto(f"{base}/search.html?q=shared+memory")
    page.locator("#search-results li").first.wait_for()
    yield page
    inside.close()
    assert not faults


@pytest.fixture(scope="module")
def found(results):
    """``found(query)``: page and place of each result, in the order listed."""
    return lambda query: results.evaluate(FOUND, query)


def is_at(place: str, wanted: str) -> bool:
    """Whether a result is what a row of the tables means."""
    chapter, _, name = wanted.partition("/")
    folder = rf"chapters/{chapter}-\w+/" if chapter.isdigit() else f"{chapter}/"
    return bool(re.match(rf"{folder}{name}(?![\w.-])", place))


def test_what_is_asked_for_comes_first(found):
    told = {q: found(q)[:2] for q, place in FIRST.items()}
    assert not {q: r for q, r in told.items() if not is_at(r[0], FIRST[q])}


def written(query: str) -> set[str]:
    """Other ways to write the same: with hyphens, without, short ones in one."""
    words = re.split("[- ]", query)
    ways = {"-".join(words), " ".join(words)}
    ways |= {"".join(words)} if len(words) == 2 and len(query) < 16 else set()
    return ways | {way.upper() for way in ways} | {query.lower()}


def test_it_is_among_the_first_however_it_is_written(found):
    asked = {(way, p) for q, p in (FIRST | EARLY).items() for way in written(q)}
    first = {way: found(way)[:5] for way, _ in asked}
    missed = [w for w, p in asked if not any(is_at(one, p) for one in first[w])]
    assert not {way: first[way] for way in missed}


def test_a_list_without_its_place_is_told():
    assert is_at("chapters/03-memory/hbm#x", "03/hbm")
    assert not is_at("chapters/03-memory/hbm-x", "03/hbm")
    assert not is_at("chapters/13-memory/hbm", "03/hbm")


@pytest.mark.parametrize("query", ["warps", "roofline", "H100"])
def test_the_reference_stands_last(found, query):
    assert not any(REFERENCE.match(one) for one in found(query)[:2])


# Tags, TeX, JSON, words of buttons and the labels of boxes.
FURNITURE = re.compile(
    r"</\w+>|<(?:div|p|script|span)\b|\\\w+\{|[{}]|¶|#q:"
    r"|\b(?:Contents|Copy|Takeaway|Tonight)\b"
)


def test_results_are_listed_in_that_order_each_with_a_sentence(results, found):
    shown = results.evaluate(SHOWN)
    places = [place.split("#")[0] for place in found("shared memory")]
    assert [
        href.endswith(f"/{p}.html") for (href, _), p in zip(shown, places, strict=True)
    ]
    said = [text for href, text in shown if "/book/api/" not in href][:10]
    assert sum(bool(re.search("shared|memory", t, re.I)) for t in said) > 5
    assert not [text for text in said if FURNITURE.search(text) or len(text) > 260]


def test_no_row_says_furniture(results):
    rows = results.evaluate("() => Object.entries(Search._index.pages)")
    texts = [(page, row) for page, (_, found) in rows for row in found]
    chapters = [(p, row[3]) for p, row in texts if p.startswith("chapters/")]
    assert not [(p, t[:80]) for p, t in chapters if FURNITURE.search(t[:80])]
    assert len(texts) > 2000

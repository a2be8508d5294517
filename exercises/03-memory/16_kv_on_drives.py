"""The KV cache on drives.

level: build

Keys and values live on flash. In each layer an indexer picks some tokens, and the
drive delivers whole pages. Build what decides whether this works.

First `pages`: how many different pages hold the picked tokens of one layer, when
tokens lie one after the other and as many as fit whole share a page. A token that is
larger than a page takes several to itself.

Then `drives`: how many drives feed so many tokens a second. `picked` is a list with
the picked tokens of each layer. A drive does `reads` pages a second and delivers at
most `bandwidth` bytes a second, and a drive is bought whole.

Last `step_time`: the seconds of a step in which every layer computes for `compute`
seconds and needs pages that take `fetch` seconds. With `ahead`, a layer's pages are
asked for when the layer before begins to compute; the first layer's cannot be.

hint: Integer division turns a position into a page, and a `set` drops repeats. Each of
the two limits asks for a number; `math.ceil` of the larger is bought. Draw two layers
as bars and slide the fetch under the computing.
"""

import itertools
import math
import random

from stacklib import memory
from stacklib.grading import expect
from stacklib.memory.tiers.kv import step_time as formula

# ---- your answer ----


def pages(picked, token_bytes, page_bytes):
    """Different pages that hold the picked tokens, a list of their positions."""
    if token_bytes > page_bytes:
        return len(picked) * math.ceil(token_bytes / page_bytes)
    per_page = page_bytes // token_bytes
    return len({token // per_page for token in picked})


def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    """Drives, a whole number, that feed so many tokens a second."""
    each = sum(pages(layer, token_bytes, page_bytes) for layer in picked)
    rate = each * tokens_per_second
    return math.ceil(max(rate / reads, rate * page_bytes / bandwidth))


def step_time(layers, compute, fetch, ahead):
    """Seconds of a step of so many layers."""
    if not ahead:
        return layers * (compute + fetch)
    return fetch + (layers - 1) * max(compute, fetch) + compute


# ---- tests ----

SSD = memory.drive("micron-9550")
SIZES = [(4096, 4096), (1152, 4096), (512, 4096), (9000, 4096)]


def draw(seed, layers, count, context=60_000):
    chance = random.Random(seed)
    return [sorted(chance.sample(range(context), count)) for _ in range(layers)]


def touched(picked, token_bytes, page_bytes):
    """Byte by byte: the pages of every token, none across a page's edge."""
    found = set()
    for token in picked:
        if token_bytes > page_bytes:
            need = -(-token_bytes // page_bytes)
            found |= {(token, part) for part in range(need)}
        else:
            found.add(token // (page_bytes // token_bytes))
    return len(found)


def bought(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    rate = tokens_per_second * sum(touched(p, token_bytes, page_bytes) for p in picked)
    whole = itertools.count(1)
    return next(
        n for n in whole if n * reads >= rate and n * bandwidth >= rate * page_bytes
    )


def test_pages():
    expect.function_matches(
        pages,
        touched,
        [
            {"picked": p, "token_bytes": t, "page_bytes": size}
            for t, size in SIZES
            for p in (*draw(1, 1, 500), [0, 1, 2, 3], [0, 3, 6, 9])
        ],
        mistakes={
            "Tokens that share a page come with one read.": lambda **c: len(
                c["picked"]
            ),
            "You counted the bytes that are wanted. A drive delivers whole pages.": (
                lambda picked, token_bytes, page_bytes: math.ceil(
                    len(picked) * token_bytes / page_bytes
                )
            ),
        },
    )


def test_drives():
    reads, bandwidth = SSD.reads.si, SSD.read.si
    cases = [
        {"picked": draw(seed, 20, 512), "token_bytes": t, "page_bytes": size,
         "tokens_per_second": rate, "reads": reads, "bandwidth": limit}
        for seed, (t, size) in enumerate(SIZES)
        for rate in (20, 2000)
        for limit in (bandwidth, bandwidth / 10)
    ]  # fmt: skip
    asked = memory.kv_demand("llama-3-70b", context=60_000, top_k=2048)
    expect.reading("pages of a Llama token, top 2,048", f"{asked.pages.si:,.0f}")
    expect.function_matches(
        drives,
        bought,
        cases,
        rel=1e-9,
        mistakes={
            "A drive is bought whole: round up.": (
                lambda picked, token_bytes, page_bytes, tokens_per_second, reads,
                bandwidth: math.floor(
                    tokens_per_second
                    * sum(touched(p, token_bytes, page_bytes) for p in picked)
                    * max(1 / reads, page_bytes / bandwidth)
                )
            ),
            "Every layer reads its own pages.": (
                lambda picked, **c: bought(picked[:1], **c)
            ),
            "The bandwidth is a limit too, not only the reads.": (
                lambda bandwidth, **c: bought(bandwidth=1e30, **c)
            ),
        },
    )  # fmt: skip


def test_step_time():
    expect.function_matches(
        step_time,
        lambda layers, compute, fetch, ahead: formula(
            layers * compute, layers, 1.0, 1 / fetch, 0.0, ahead=ahead
        ),
        [
            {"layers": n, "compute": c, "fetch": f, "ahead": a}
            for n in (1, 80)
            for c in (2.6e-4, 1e-4)
            for f in (2e-4, 9e-4)
            for a in (False, True)
        ],
        unit="s",
        mistakes={
            "Nothing hides the first layer's pages.": (
                lambda layers, compute, fetch, ahead: (
                    layers * max(compute, fetch)
                    if ahead
                    else layers * (compute + fetch)
                )
            ),
            "Without reading ahead every layer waits for its pages.": (
                lambda layers, compute, fetch, ahead: formula(
                    layers * compute, layers, 1.0, 1 / fetch, 0.0, ahead=True
                )
            ),
        },
    )

"""Claims on the exchange of experts: published times and rates, growth of volume."""

from math import log2

from stacklib.evidence import Finding, claim
from stacklib.pages.interconnect import experts as page
from stacklib.quantity import counted


@claim("deepep-latency")
def dispatch() -> Finding:
    """What a dispatch of this many tokens is predicted to take, by size."""
    small, large = (page.foretold(n) for n in (page.NODE, page.LARGEST))
    fit = page.floor(page.LARGEST).si / page.TOKENS
    left = (50e-6 - page.fixed().si) / fit
    return Finding(
        small,
        to=large,
        why=f"For {page.TOKENS} tokens a GPU, on {page.NODE} GPUs and on "
        f"{page.LARGEST}. The published times are {page.took(page.NODE).text()} and "
        f"{page.took(page.LARGEST).text()}. On {page.LARGEST} GPUs 50 us would leave "
        f"room for {left:.0f} tokens.",
    )


@claim("deepep-dispatch-8gpu")
def eight() -> Finding:
    """Least time over NVLink, and what other sizes take besides."""
    return Finding(
        page.foretold(page.NODE),
        why=f"The bytes alone take {page.floor(page.NODE).text()} at the rate that an "
        "H800's NVLink reaches; the rest is what dispatches of other sizes take beyond "
        "their bytes.",
    )


@claim("deepep-8gpu-pure-rdma")
def through_the_port() -> Finding:
    """All copies of eight GPUs through their ports."""
    return Finding(
        page.pure_rdma(),
        why=f"At least, at {page.nic().text()}. Over NVLink the same bytes take "
        f"{page.floor(page.NODE).text()}. The page prints a shorter time under a "
        "heading of pure RDMA and the port's rate above it: both cannot be, a part "
        "went over NVLink.",
        verdict="conflict",
    )


@claim("deepep-dispatch-256")
def many() -> Finding:
    """Least time through the port, and what other sizes take besides."""
    return Finding(
        page.foretold(page.LARGEST),
        why=f"{page.floor(page.LARGEST).text()} of it are bytes through the port.",
    )


@claim("deepep-nvlink-153")
def in_the_node() -> Finding:
    """What NVLink of the machine reaches, by the same page."""
    return Finding(
        page.nvlink(),
        why=f"The rate that the page gives as reached; the data sheet has "
        f"{page.lanes().text()} and an H100 {page.lanes(page.FULL_CHIP).text()}.",
    )


@claim("deepep-rdma-58")
def between_nodes() -> Finding:
    """What a full port seems to carry, where a node's own copies count too."""
    return Finding(
        page.seeming(64),
        to=page.seeming(32),
        why=f"A port carries {page.nic().text()}. Copies for the token's own node are "
        "counted in the published rate and never pass the port, so a full one seems to "
        "carry more, on 64 GPUs and on 32.",
    )


@claim("deepep-tencent-30")
def by_tencent() -> Finding:
    """Another's report."""
    return Finding.cited(
        "Reported with the change in DeepEP's repository; no model has its workload."
    )


@claim("v3-experts")
def chosen_experts() -> Finding:
    """The config says so."""
    top, many = (page.of(f, f"{f} of DeepSeek-V3").si for f in ("top_k", "experts"))
    return Finding.cited(
        f"Source: the model's config, {top:.0f} of {many:.0f} routed experts and one "
        "shared, which every GPU has, so that no token travels to it."
    )


def _exponent(grows: bool) -> float:
    """Power of the number of experts with which a GPU's copies grow."""
    few, lots = page.EXPERTS, 2 * page.EXPERTS
    top = 2 * page.TOP if grows else page.TOP
    one = sum(page.copies(p).si for p in ("network", "nvlink"))
    two = sum(page.copies(p, experts=lots, top=top).si for p in ("network", "nvlink"))
    return log2(two / one) / log2(lots / few)


@claim("moe-comm-linear-experts", right_if="a token takes a fixed share of the experts")
def volume() -> Finding:
    """Copies of a token with the experts doubled."""
    return Finding(
        counted(_exponent, False, label="exponent at a fixed top-k"),
        then=counted(_exponent, True, label="exponent at a fixed share"),
        why="At a fixed top-k a token has as many copies, however many experts there "
        "are to choose from. It has more when it takes more of them.",
    )


@claim("moe-half-time-comm")
def half() -> Finding:
    """Share of the exchange in training V3 without overlap, by what is computed in."""
    return Finding(
        page.share("bf16"),
        to=page.share("fp8"),
        why=f"{page.sending().text()} a token through the port beside "
        f"{page.computing().text()} of arithmetic at the BF16 peak, "
        f"{page.computing('fp8').text()} at the FP8 one, nothing overlapped. The "
        "report of DeepSeek-V3 has about as much of one as of the other.",
    )


@claim("pxn-less-volume")
def gathered() -> Finding:
    """Bytes of a port saved by gathering."""
    apart, together = (page.port_bytes(together=t).si for t in (False, True))
    fewer, more = (page.messages(together=t).si for t in (True, False))
    return Finding.open(
        f"Not a number, so no ratio judges it. By our count a port of "
        f"{page.TRAINED} GPUs sends {fewer:.0f} messages with PXN and {more:.0f} "
        f"without; its bytes fall by {1 - together / apart:.0%}. So it is wrong of "
        "what leaves a node. To settle it: whether traffic through a second tier of "
        "switches is meant, which PXN does lower."
    )

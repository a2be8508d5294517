"""Claims on the exchange of experts: published times and rates, growth of volume."""

from math import log2

from stacklib.evidence import Finding, claim
from stacklib.pages.interconnect import experts as page
from stacklib.quantity import counted

from ...figures_of import measured


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
    return Finding.false(
        computed=page.pure_rdma(),
        why=f"At least, at {page.nic().text()}. Over NVLink the same bytes take "
        f"{page.floor(page.NODE).text()}. The page prints a shorter time under a "
        "heading of pure RDMA and the port's rate above it: both cannot be, a part "
        "went over NVLink.",
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
    """As the page prints it."""
    return Finding(
        measured("D-0192"),
        why=f"Of {page.nvlink().text()} that the page calls reachable; the data sheet "
        f"has {page.lanes().text()} and an H100 {page.lanes(page.FULL_CHIP).text()}.",
    )


@claim("deepep-rdma-58")
def between_nodes() -> Finding:
    """As the page prints it, and what a full port would seem to carry."""
    return Finding(
        measured("D-0195"),
        to=measured("D-0196"),
        why=f"On 16 GPUs and on 32. A port carries {page.nic().text()}. Copies for the "
        "token's own node are counted in the published rate and never pass the port, "
        f"so a full one would seem to carry {page.seeming(32).text()} on 32.",
    )


@claim("deepep-tencent-30")
def by_tencent() -> Finding:
    """Another's report."""
    return Finding.cited(
        "Source: deepseek-ai/DeepEP, README at 3b1045d, news of 22 April 2025 of "
        "Tencent's network optimization: up to 30 %. No model of ours has its workload."
    )


@claim("v3-experts")
def chosen_experts() -> Finding:
    """The config says so."""
    top, many = (page.of(f, f"{f} of DeepSeek-V3").si for f in ("top_k", "experts"))
    return Finding.cited(
        f"Source: the model's config, {top:.0f} of {many:.0f} routed experts and one "
        "shared, which every GPU has, so that no token travels to it."
    )


def exponent(grows: bool) -> float:
    """Power of the number of experts with which a GPU's copies grow."""
    few, lots = page.EXPERTS, 2 * page.EXPERTS
    top = 2 * page.TOP if grows else page.TOP
    one = sum(page.copies(p).si for p in ("network", "nvlink"))
    two = sum(page.copies(p, experts=lots, top=top).si for p in ("network", "nvlink"))
    return log2(two / one) / log2(lots / few)


@claim("moe-comm-linear-experts")
def volume() -> Finding:
    """Copies of a token with the experts doubled."""
    return Finding(
        counted(exponent, False, label="exponent at a fixed top-k"),
        why="At a fixed top-k a token has as many copies, however many experts there "
        "are to choose from. Only at a fixed share of them the exponent is "
        f"{exponent(True):.2g}, and no model grows so.",
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
    return Finding.false(
        computed=page.port_bytes(together=True),
        why=f"By our count a port of {page.TRAINED} GPUs sends {fewer:.0f} messages "
        f"with PXN and {more:.0f} without; its bytes fall by "
        f"{1 - together / apart:.0%}. What PXN lowers is traffic "
        "through a second tier of switches.",
    )

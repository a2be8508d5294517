"""Claims on pools: who reads, who writes, who attends, and what crosses."""

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import pools as page
from stacklib.pages.serving.pools import FULL, LOOSE, TOKENS
from stacklib.quantity import one_of, quoted

MANY = 256  # answers at once
STRICTER = 0.02  # s a token


@claim("pdc-2x")
def twice() -> Finding:
    """Two papers' gains; ours turns with the time that a token may take."""
    strict, loose = page.over(STRICTER), page.over(LOOSE)
    return Finding(
        quoted("splitwise.throughput"),
        to=quoted("distserve.goodput"),
        verdict="conflict",
        why="Splitwise's at the same cost and power, DistServe's goodput at most. Each "
        "has limits of its own, and the document names none. On our 32 GPUs, with "
        f"prompts of 4,096 tokens, it is {strict.text(digits=2)} where a token may "
        f"take 20 ms, and {loose.text(digits=2)} at 100 ms.",
    )


@claim("lmsys-gpu-count")
def gpus() -> Finding:
    """GPUs of both pools, as LMSYS name them."""
    return Finding(
        quoted("lmsys_ep.chips"),
        why="What reads was also measured alone, on other nodes than in the whole.",
    )


@claim("decode-prefill-ratio")
def of_nodes() -> Finding:
    """Nodes of both pools, as LMSYS name them."""
    read, write = page.lmsys_nodes()
    return Finding.cited(
        "Source: LMSYS, DeepSeek on 96 H100 GPUs, 5 May 2025: "
        f"{write.text()} of {quoted('lmsys_ep.nodes').text()} nodes write, which "
        f"leaves {read.text()} to read. Each side was measured alone, the readers on "
        "four, with prompts of one length. It is no rule for others."
    )


@claim("pdc-attribution")
def named() -> Finding:
    """Who wrote the three letters."""
    return Finding.false(
        "Prefill, decode and caching as three pools are Huawei's and SiliconFlow's, of "
        "June 2025. Source: P. Zuo et al., Serving Large Language Models on Huawei "
        "CloudMatrix384, arXiv 2506.12708. DeepSeek's report of December 2024 (arXiv "
        "2412.19437, section 3.4) parts reading from writing, by another name and "
        "beside no system that does not."
    )


@claim("disagg-5-10us")
def crossing() -> Finding:
    """Activations of half a micro-batch and of a whole one over a chip's NVLink."""
    return Finding(
        page.activations(TOKENS // 2),
        to=page.activations(),
        verdict="open",
        why=f"{TOKENS // 2} and {TOKENS} tokens of bf16, one direction of 18 links, "
        "and the link's latency. To settle it: the batch.",
    )


@claim("disagg-activation-bytes")
def crossings() -> Finding:
    """Twice in each of the layers."""
    each = 2 * page.layers() / one_of("token")
    return Finding(
        (each * page.activations(TOKENS // 2)).to("ms/token"),
        to=(each * page.activations()).to("ms/token"),
        verdict="open",
        why=f"There and back in each layer of DeepSeek-V3, with {TOKENS // 2} and "
        f"{TOKENS} tokens. A second micro-batch can hide it. To settle it: the batch.",
    )


@claim("util-30-40")
def together() -> Finding:
    """Both parts of a layer, in machines that do both in turns, at two batches."""
    few, many = page.taken_in_turns(FULL), page.taken_in_turns(MANY)
    return Finding.open(
        "No model, no batch and no context are named. Of Llama-3-70B at 4,096 tokens "
        f"each the MLPs have {few.text('%', 2)} of the time with {FULL} answers at "
        f"once and {many.text('%', 2)} with {MANY}, attention the rest: two parts of "
        "one time cannot both have 30 to 40 %. To settle it: the batch, the context, "
        "and what utilisation counts."
    )


@claim("util-60-70")
def apart() -> Finding:
    """Of two pools in turns, the one that works less, at two batches."""
    few, many = (page.busy(n, "attention").text("%", 2) for n in (FULL, MANY))
    return Finding.open(
        f"With 4,096 tokens each, attention's side works {few} of the time at {FULL} "
        f"answers at once and {many} at {MANY}. The MLPs' side is full in both. "
        "Attention grows with the caches and the MLP hardly before its weights are "
        "paid for, so that the batch decides. To settle it: the batch and the context."
    )

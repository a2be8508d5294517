"""Claims on pools: who reads, who writes, who attends, and what crosses."""

from stacklib.evidence import Finding, claim
from stacklib.pages.serving import pools as page
from stacklib.pages.serving.pools import CROSSINGS, FULL, LOOSE, TOKENS
from stacklib.quantity import one_of, quoted

MANY = 256  # answers at once
STRICTER = 0.02  # s a token


@claim("pdc-2x", right_if="a token may take 20 ms and prompts are long")
def twice() -> Finding:
    """Goodput of two pools over one on the same 32 GPUs."""
    return Finding(
        page.over(LOOSE),
        then=page.over(STRICTER),
        why="Prompts of 4,096 tokens, answers of 256, 2 s to the first token. At 100 "
        "ms a token one pool is ahead; the border lies at about "
        f"{page.border().text('ms', 2)}.",
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
        f"{write.text()} nodes write and {read.text()} read, of one run with prompts "
        "of one length. It is no rule for others."
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
        why=f"No batch is named: {TOKENS // 2} and {TOKENS} tokens of bf16, one "
        "direction of 18 links, and the link's latency.",
    )


@claim("disagg-activation-bytes")
def crossings() -> Finding:
    """Twice in each of the layers."""
    per_token, slow = 2 * page.layers() / one_of("token"), page.crossed(CROSSINGS[1])
    return Finding(
        (per_token * page.activations(TOKENS // 2)).to("ms/token"),
        to=(per_token * page.activations()).to("ms/token"),
        why=f"With crossings of {TOKENS // 2} and of {TOKENS} tokens over NVLink, as "
        f"computed above; at ten microseconds each it is {slow.text()}. It can be "
        "hidden behind a second micro-batch, which takes the batch apart.",
    )


@claim("util-30-40")
def together() -> Finding:
    """The rarer of both parts of a layer, in machines that do both in turns."""
    mlp = page.taken_in_turns(MANY)
    return Finding(
        (1 - mlp).to("%").named("attention's share"),
        why=f"{MANY} answers at once, 4,096 tokens each: the MLP has the other "
        f"{mlp.text('%', 2)}. Two parts of one time cannot both have 30 to 40 %.",
    )


@claim("util-60-70")
def apart() -> Finding:
    """Of two pools in turns, the one that works less."""
    return Finding(
        page.busy(MANY, "attention").to("%"),
        why=f"{MANY} answers at once, 4,096 tokens each; with {FULL} it is "
        f"{page.busy(FULL, 'attention').text('%', 2)}. The MLPs' side is full in both. "
        "Attention grows with the caches and the "
        "MLP hardly before its weights are paid for, so that the batch decides.",
    )

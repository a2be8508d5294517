"""Claims on drawing a token: bytes, launches, noise, and what fusing them gains."""

from functools import cache

import numpy as np

from stacklib import hardware, models
from stacklib.evidence import Finding, claim
from stacklib.kernels.plan.published import gain, speedup
from stacklib.kernels.rows.flash_sampling import (
    Crossed,
    flash_sampling,
    sample_by_passes,
)
from stacklib.kernels.rows.noise import gumbel
from stacklib.kernels.rows.sampling_time import (
    GATHER_S,
    LAUNCH_S,
    PUBLISHED,
    plain_time,
    step_share,
)
from stacklib.quantity import assumed, bytes_per_element, chosen, counted
from stacklib.roofline.work.moving import memory_time

B200, SMALL, LARGE = "b200_sxm", "qwen3-1.7b", "llama-3-70b"
VOCAB, HIDDEN = 150_000, 4096  # as the document has them
NARROW = 8  # width of the model that is run, with that vocabulary
CLASSES, DRAWS, SEEDS = 100, 10_000, 16
TILINGS = (1, 7, 64, 999, 1000)
USUAL = "of the usual order; neither was measured on these devices"
LAUNCH = assumed(LAUNCH_S * 1e6, "us", "a launch", why=USUAL)
WAIT = assumed(GATHER_S * 1e6, "us", "before a gather's first byte", why=USUAL)
PAPER = "T. Ruiz et al., FlashSampling, arXiv 2603.15854"
BENCHMARK = "github.com/FlashSampling/FlashSampling, imgs/tp-scaling, runs-summary.csv"


@cache
def run() -> Crossed:
    """A token drawn by three kernels, one row, each crossing recorded."""
    random = np.random.default_rng(0)
    hidden = random.standard_normal((1, NARROW)).astype(np.float32)
    head = random.standard_normal((VOCAB, NARROW)).astype(np.float32)
    return sample_by_passes(hidden, head, 1.0, 0).crossed


def logits_bytes() -> int:
    """Bytes of the logits, as they were written."""
    return run().written["logits"]


def crossings() -> int:
    """Bytes of logits and probabilities both ways."""
    both = ("logits", "probabilities")
    return sum(run().written[name] + run().read[name] for name in both)


def launches() -> int:
    """Kernels of that run."""
    return run().launches


def head_numbers() -> int:
    """Numbers of an LM head: the run's rows, times the document's width."""
    return run().read["weights"] // (4 * NARROW) * HIDDEN


@cache
def chi_square(seeds: int) -> float:
    """Chi-square of draws by noise against the softmax, over its degrees of freedom."""
    logits = np.random.default_rng(1).standard_normal(CLASSES)
    p = np.exp(logits) / np.exp(logits).sum()
    found = []
    for seed in range(seeds):
        rows = np.arange(DRAWS)[:, None]
        drawn = (logits + gumbel(seed, np.arange(CLASSES), rows)).argmax(axis=1)
        hits = np.bincount(drawn, minlength=CLASSES)
        found.append(((hits - DRAWS * p) ** 2 / (DRAWS * p)).sum() / (CLASSES - 1))
    return float(np.mean(found))


@cache
def differing_draws() -> int:
    """Draws that another tiling of the vocabulary changes."""
    random = np.random.default_rng(2)
    hidden = random.standard_normal((64, NARROW))
    head = random.standard_normal((1000, NARROW))
    draws = [flash_sampling(hidden, head, 1.0, 3, tile=t) for t in TILINGS]
    return sum(int((one != draws[0]).sum()) for one in draws)


def share_of_step(name: str, ranks: int) -> float:
    """Share of a decode step that is sampling, one row on one or more B200s.

    The step reads every weight once; the sampler takes its bytes and launches, and a
    gather of the logits where there are several GPUs.
    """
    chip, model = hardware.get(B200), models.get(name)
    draw = plain_time(
        batch=1,
        hidden=model.hidden,
        vocab=model.vocab,
        bandwidth=chip.memory_bandwidth.si,
        launch_s=LAUNCH.si,
        ranks=ranks,
        latency_s=WAIT.si,
    )
    body = model.parameters.si - model.vocab * model.hidden
    return float(step_share(draw, memory_time(2 * body, chip, ranks)))


def gains(column: int) -> tuple[float, float]:
    """Least and largest published gain over a sampler of the table."""
    found = [row[column] / row[-1] for row in PUBLISHED.values()]
    return min(found), max(found)


@claim("logits-600kb")
def logits() -> Finding:
    """What a run over that vocabulary wrote."""
    return Finding(
        counted(logits_bytes, unit="B", label="bytes of logits"),
        why=f"{VOCAB:,} numbers in FP32; half of it in BF16.",
    )


@claim("lm-head-size")
def head() -> Finding:
    """Width and vocabulary of a model that has one."""
    model, chip = models.get("qwen3-8b"), hardware.get(B200)
    numbers = counted(head_numbers, label="numbers of the LM head")
    size = numbers * bytes_per_element("bf16")
    return Finding(
        model.size("hidden", "hidden size"),
        why=f"{model.name} has {model.vocab:,} tokens. Reading {size:.3 GB} of the "
        f"claim's own size takes {memory_time(size, chip):.3 us} on a B200.",
    )


@claim("sampling-hbm-passes")
def passes() -> Finding:
    """Bytes of logits and probabilities both ways, over those of the logits."""
    both = counted(crossings, unit="B", label="bytes both ways")
    once = counted(logits_bytes, unit="B", label="bytes of logits")
    return Finding(
        (both / once).named("crossings"),
        why="Logits are written and read, probabilities are written and read. A "
        "softmax that cannot keep a row reads it more often.",
    )


@claim("logits-roundtrips-time")
def time_of_passes() -> Finding:
    """The same bytes at a B200's bandwidth."""
    both = counted(crossings, unit="B", label="bytes both ways")
    return Finding.true(
        computed=memory_time(both, B200).named("time of the crossings"),
        why=f"Beside {LAUNCH} for each launch, an assumption, it is nothing.",
    )


@claim("sampling-three-kernels")
def kernels() -> Finding:
    """Launches of the run."""
    return Finding(
        counted(launches, label="launches"),
        why="Product, softmax, draw, each a kernel. The fused one has two.",
    )


@claim("gumbel-max-exact")
def exact() -> Finding:
    """Draws against the softmax, over several seeds of the noise."""
    seeds = chosen(SEEDS, label="seeds")
    return Finding.true(
        computed=counted(chi_square, SEEDS, label="chi-square over degrees of freedom"),
        why=f"The mean of {seeds.si:.0f} seeds with {DRAWS:,} draws of {CLASSES} "
        "classes each. Exact in real numbers.",
    )


@claim("gumbel-tile-decompose")
def tiles() -> Finding:
    """Draws that differ between tilings."""
    return Finding.true(
        computed=counted(differing_draws, label="draws that differ"),
        why=f"64 rows over {', '.join(map(str, TILINGS))} tokens a tile. Noise goes by "
        "the token's number; with one stream for all tiles they would be alike.",
    )


@claim("sampling-share-decode")
def share() -> Finding:
    """A measurement again; what bytes and launches leave of it stands beside."""
    one, large, many = (
        share_of_step(*case) for case in ((SMALL, 1), (LARGE, 1), (SMALL, 8))
    )
    return Finding.cited(
        f"Source: {PAPER}: over 10 % on one GPU with a library's sampler, 20 to 38 % "
        f"with several. Bytes and launches, of {LAUNCH} and {WAIT} before a gather, "
        f"both assumed, are {large:.2%} to {one:.2%} of a step on one B200 and "
        f"{many:.0%} on eight: the weights shrink with the number of GPUs, the gather "
        "does not."
    )


@claim("flashsampling-1p84", 0, "flashsampling-multinomial")
@claim("flashsampling-2p52", 1, "flashsampling-flashinfer")
def over_samplers(column: int, name: str) -> Finding:
    """A measurement; the chain of a library's sampler is in no model."""
    row, (low, high) = gain(name), gains(column)
    return Finding.cited(
        f"Source: {row.source}: up to {speedup(row)[1]:.3g} times {row.over} "
        f"({row.where}). Its repository's table for B200 ({BENCHMARK}) has {low:.3g} "
        f"to {high:.3g}, from one GPU to eight. Bytes and launches alone give less: "
        "the rest is the library's own chain of sorts, scans and waits."
    )


@claim("flashsampling-tpot-19")
def in_a_step() -> Finding:
    """The largest gain of a step that our model leaves room for, beside it."""
    row, room = gain("flashsampling-step"), share_of_step(SMALL, 1)
    return Finding.cited(
        f"Source: {row.source}, first version: {row.where}, up to. The second version "
        f"says up to 10 %. Launches and passes are {room:.2%} of that model's step on "
        "one B200; the rest of the gain is what the sampler of the engine took beyond "
        "its bytes."
    )

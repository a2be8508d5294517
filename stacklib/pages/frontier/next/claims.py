"""Claims on what one generation of hardware gives over the one before."""

from functools import cache
from itertools import pairwise, product
from typing import Any

from stacklib import hardware, serving
from stacklib.evidence import Finding, claim
from stacklib.pages.frontier import next as page
from stacklib.quantity import Quantity, counting, quoted
from stacklib.roofline.work.fit import Infeasible

FLAGSHIPS = ("v100_sxm2_32gb", "a100_sxm_80gb", "h100_sxm", "b200_sxm", "rubin")
REFRESHED = ("h100_sxm", "h200_sxm", "b200_sxm", "b300_sxm", "rubin")
RACK, MOE, DENSE = "gb200", "deepseek-v3", ("bf16", "fp16", "fp8", "fp4")
SERVED = {"h100_sxm": ("fp8_128x128", (16, 32)), RACK: ("nvfp4", (32, 64))}
TARGET = 0.05  # s a token, as NVIDIA's own footnote has it


@claim("rubin-six-chips")
def platform() -> Finding:
    """Names of the announcement."""
    return Finding.cited(
        "Source: NVIDIA's announcement of Rubin, 5 January 2026: Vera, Rubin, NVLink 6 "
        "switch, ConnectX-9, BlueField-4, Spectrum-6. By May NVIDIA counted seven, "
        "with Groq's 3 LPU."
    )


@claim("rubin-10x-token-cost")
def cheaper() -> Finding:
    """A promise for racks and their software; one GPU's gain is not the same."""
    least, most = (page.faster(case) for case in ("70B, NVFP4", page.MANY))
    return Finding.cited(
        "Source: NVIDIA's announcement of Rubin, January 2026, up to ten times (as "
        "told by wpnews.pro: Kimi-K2-Thinking in FP4, racks of Rubin against GB200, "
        "each with its software). Nobody has measured it. One GPU for another at one "
        f"rent, with a model and format that both run, gives {least.text(digits=2)} to "
        f"{most.text(digits=2)}."
    )


@claim("rubin-4x-fewer-gpus")
def fewer() -> Finding:
    """Dense FP4 over that of the rack it was compared with."""
    of = {name: page.sheet(name, old=RACK) for name in ("bf16", "HBM")}
    return Finding(
        page.sheet("fp4", old=RACK),
        why=f"If all of training is in FP4. What stays in BF16 gains {of['bf16']:.2}, "
        f"what waits for memory {of['HBM']:.2}.",
    )


def best_row(new: str, old: str) -> Quantity:
    """The largest ratio of their rows, the narrowest dense format over the other's."""
    peaks = [
        max(
            (hardware.get(key).peak(f) for f in DENSE if f in hardware.get(key).peaks),
            key=lambda peak: peak.si,
        )
        for key in (new, old)
    ]
    ratio = (peaks[0] / peaks[1]).named(f"narrowest peak, {new} over {old}")
    rows = [span.low for span in page.generation(new, old).values()]
    return max([ratio, *rows], key=lambda row: row.si)


def steps() -> list[Quantity]:
    """The best row of each generation, the least first."""
    found = [best_row(new, old) for old, new in pairwise(FLAGSHIPS)]
    return sorted(found, key=lambda row: row.si)


@claim("hw-gen-5-10x")
def caps() -> Finding:
    """Best rows of four steps of one vendor's flagships."""
    least, *_, most = steps()
    return Finding(
        least,
        to=most,
        why="V100 to Rubin: the largest ratio of a step's rows, dense, with a narrower "
        "format counted as the chip's. In one format no step passes "
        f"{page.sheet('fp8'):.3}.",
    )


@claim("single-chip-never-10x")
def never() -> Finding:
    """The largest row of one step, and of two."""
    two = best_row("rubin", "h100_sxm")
    return Finding.depends(
        "one generation is meant",
        f"The largest row of any step since V100 is {steps()[-1]:.3}. Over two, from "
        f"an H100's FP8 to Rubin's FP4, it is {two:.3}.",
        computed=steps()[-1],
    )


@counting("years from one to the next of {keys}", unit="year")
def between(keys: tuple[str, ...]) -> float:
    """By the years of their rows."""
    years = [hardware.get(key).year for key in keys]
    return (years[-1] - years[0]) / (len(keys) - 1)


@claim("nvidia-yearly-arch")
def yearly() -> Finding:
    """Years between the rows of the three architectures that it names."""
    return Finding(
        between(REFRESHED[::2]),
        why="Hopper, Blackwell and Rubin by the years of their rows. With H200 and "
        f"B300, which refresh an architecture, it is {between(REFRESHED).text()}.",
    )


@claim("chip-3-5x")
def chip() -> Finding:
    """In one format, and with FP4 for FP8."""
    return Finding(
        page.sheet("bf16", "b200_sxm", "h100_sxm"),
        to=best_row("b200_sxm", "h100_sxm"),
        why="The higher end counts FP4, which the same sentence multiplies once more.",
    )


@cache
def served(on: str) -> list[tuple[float, float]]:
    """Seconds of a token, and tokens a second of a chip, with experts spread."""
    dtype, spread = SERVED[on]
    found = []
    for ep, many in product(spread, range(10)):
        asked: dict[str, Any] = {"tp": 1, "ep": ep, "batch": ep << many}
        try:
            step = serving.estimate(MOE, on, dtype, context=2048, **asked)
            found.append((float(step.tpot.si), (1 << many) / float(step.tpot.si)))
        except Infeasible:
            continue
    return found


@counting("tokens of a GB200 over those of an H100, a token in {seconds} s")
def at_speed(seconds: float) -> float:
    """The most of each at which every user gets a token in time."""
    most = [max(r for t, r in served(on) if t <= seconds) for on in (RACK, "h100_sxm")]
    return most[0] / most[1]


@claim("hopper-blackwell-30x")
def thirty() -> Finding:
    """Announced and measured; ours is DeepSeek-V3, FP8 on H100s and NVFP4 on a rack."""
    slow, told, fast = (at_speed(TARGET * x) for x in (2, 1, 0.6))
    return Finding(
        quoted("gb200_rack.announced"),
        to=quoted("inferencex.gain"),
        verdict="conflict",
        why="Announced of GB200 over H100, and measured of GB300 at a speed that an "
        "H100 barely reaches. At 50 tokens a second and user GB200 was measured at "
        f"{quoted('gb200_rack.inferencemax').text()} times an H200. A model of ours "
        f"has {slow:.3} at a token in 100 ms, {told:.3} in 50 ms, {fast:.3} in 30 ms: "
        "a ratio at a fixed speed has no end as the older one nears its limit.",
    )


@claim("architecture-gain")
def architecture() -> Finding:
    """No pair is named."""
    return Finding.open(
        "The document names no release and no measure of quality. To settle it: two "
        "models of one score, a release apart, with the cost of a token of each."
    )

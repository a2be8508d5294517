"""Section 10.2: What will the next machine do for your token?"""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from stacklib import frontier, hardware, serving
from stacklib.frontier import meters
from stacklib.frontier.factor_tree import generation
from stacklib.hardware.errors import error_band
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP
from stacklib.quantity import Quantity, chosen, counted, counting, recorded
from stacklib.serving.token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from stacklib.serving.token.work import EXCHANGES, HOST, LAUNCHES, SAMPLING

OLD, NEW = "b200_sxm", "rubin"
SHORT = {
    PRODUCTS: "products",
    ATTENTION: "attention",
    HEAD: "output matrix",
    NORMS: "norms",
    EXCHANGES: "exchanges",
    LAUNCHES: "launches",
    SAMPLING: "sampling",
    HOST: "engine",
}
GROUPS = {
    "reading": (PRODUCTS, ATTENTION, HEAD, NORMS),
    "exchanges": (EXCHANGES,),
    "launches": (LAUNCHES, SAMPLING),
    "engine": (HOST,),
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "70B, bf16, one answer": (MODEL, {"dtype": "bf16"}),
    "70B, FP8": (MODEL, {"dtype": "fp8_128x128"}),
    "70B, NVFP4": (MODEL, {"dtype": "nvfp4"}),
    "70B, bf16, 64 answers": (MODEL, {"dtype": "bf16", "batch": 64}),
    "70B, bf16, 128 answers": (MODEL, {"dtype": "bf16", "batch": 128}),
    "gpt-oss-120b, one chip": ("gpt-oss-120b", {"tp": 1}),
    "the same, 64 answers": ("gpt-oss-120b", {"tp": 1, "batch": 64}),
}
FIRST, MANY = "70B, bf16, one answer", "the same, 64 answers"
TENTH = chosen(0.1, label="of the engine's time")


def chip(on: str) -> hardware.Accelerator:
    """A device's data sheet."""
    return hardware.get(on)


def format_of(case: str) -> str:
    """The format of a case's weights."""
    return str(CASES[case][1].get("dtype", "mxfp4"))


@cache
def estimate(case: str, on: str, mode: str = "") -> serving.estimates.estimate.Estimate:
    """A case of the table on eight of a device, or on one."""
    model, asked = CASES[case]
    asked = {"tp": TP, "context": CONTEXT} | asked | ({"mode": mode} if mode else {})
    return serving.estimate(model, on, **asked)


def token(on: str, case: str = FIRST, mode: str = "") -> Quantity:
    """Seconds of a token."""
    return estimate(case, on, mode).tpot


def line(name: str, on: str) -> Quantity:
    """A line of the token's account."""
    found = next(p.time for p in estimate(FIRST, on).parts if p.name == name)
    return found.named(f"{SHORT[name]} of a token on eight {chip(on).short}")


def group(of: str, on: str) -> Quantity:
    """Lines that go together: what reads, what is sent, starts, pauses."""
    first, *others = (line(name, on) for name in GROUPS[of])
    return sum(others, first).named(of)


def faster(case: str = FIRST, mode: str = "") -> Quantity:
    """How many times as fast the newer one is."""
    found = token(OLD, case, mode) / token(NEW, case, mode)
    return found.named("times as fast")


def gain(of: str) -> Quantity:
    """How many times as fast a group of lines is."""
    return (group(of, OLD) / group(of, NEW)).named(f"{of}, times as fast")


def share(of: str) -> Quantity:
    """A group's share of the token on the older one."""
    return (group(of, OLD) / token(OLD)).named(f"share of {of}")


def still() -> Quantity:
    """The share that stays as long: launches and the engine."""
    return (share("launches") + share("engine")).named("share of the rest")


def most() -> Quantity:
    """The gain if nothing were left of what is read."""
    return (1 / (1 - share("reading"))).named("times, at most")


def end(which: str, on: str = OLD) -> Quantity:
    """An end of the printed band, ``low`` or ``high``."""
    band = estimate(FIRST, on).error
    assert band is not None
    factor = counted(error_band, band.cell, take=which, label=f"{which} end")
    return (factor * token(on)).named(f"a token, {which} end")


def sheet(name: str, new: str = NEW, old: str = OLD) -> Quantity:
    """A row of the newer data sheet over that of the older."""
    return generation(new, old)[name].low


def leaner() -> Quantity:
    """The gain if the engine's pauses were a tenth as long."""
    left = [token(on) - group("engine", on) * (1 - TENTH) for on in (OLD, NEW)]
    return (left[0] / left[1]).named("times as fast, engine ten times as quick")


def rent(on: str = OLD, case: str = FIRST) -> Quantity:
    """Dollars an hour of a B200, and of a Rubin at which a token costs the same."""
    hour = chip(OLD).fields["cloud_price"]
    assert hour is not None
    return hour if on == OLD else (hour * faster(case)).named("rent of equal tokens")


def cases() -> list[dict[str, Any]]:
    """Each case on both, and the gain with and without losses."""
    return [
        {
            "case": case,
            "B200": token(OLD, case),
            "Rubin": token(NEW, case),
            "times": faster(case),
            "at the roof": faster(case, "limit"),
        }
        for case in CASES
    ]


# -- the last time ---------------------------------------------------------------------


@cache
def pairs() -> tuple[tuple[meters.Metered, meters.Metered], ...]:
    """Runs of a leaderboard on H100 and on B200, alike in all else."""

    def alike(row: meters.Metered) -> tuple[Any, ...]:
        return row.model, row.chips, row.dtype, row.batch, row.prompt

    rows = [row for row in meters.metered() if row.of == "mlenergy"]
    older = {alike(row): row for row in rows if row.device == DEVICE}
    newer = [row for row in rows if row.device == OLD]
    return tuple((older[alike(r)], r) for r in newer if alike(r) in older)


def slowest(what: str, unit: str, which: int = 1) -> Quantity:
    """A field of the pair whose newer chip did worst; of the older with ``which`` 0."""
    row = min(pairs(), key=lambda pair: pair[0].itl_ms / pair[1].itl_ms)[which]
    return recorded(meters.FILE, row.id, what, unit=unit, label=f"{what}, {row.id}")


LOADS = {"8": (1, 8), "32": (9, 32), "128 and more": (33, 9999), "any": (1, 9999)}


@counting("{what}, of pairs with {answers} answers at once")
def last_time(what: str, answers: str = "any") -> float:
    """``pairs``, how many ``slower``, ``least``, and medians of both."""
    least, most = LOADS[answers]
    asked = [pair for pair in pairs() if least <= pair[0].batch <= most]
    if what == "pairs":
        return float(len(asked))
    if what == "predicted":
        told = [old.journey.token.time / new.journey.token.time for old, new in asked]
        return median(float(ratio.si) for ratio in told)
    measured = [old.itl_ms / new.itl_ms for old, new in asked]
    if what == "slower":
        return float(sum(ratio < 1 for ratio in measured))
    return min(measured) if what == "least" else median(measured)


def before() -> list[dict[str, Any]]:
    """The step before this one: predicted and measured, by answers at once."""
    names = ("pairs", "predicted", "measured", "least", "slower")
    return [
        {"answers at once": load} | {name: last_time(name, load) for name in names}
        for load in list(LOADS)[:-1]
    ]


# -- papers, circuits, uses ------------------------------------------------------------


@counting("{what}, of all techniques")
def hardened(what: str) -> float:
    """Months from paper to chip, from chip to use, and how many chips waited."""
    rows = frontier.hardening()
    by = {row.technique: row for row in rows}
    waited = [row.waited() for row in rows if row.first == "hardware"]
    found = {
        "techniques": len(rows),
        "months to the chip": median(row.lead for row in rows),
        "months to the use": median(waited),
        "chips that waited": len(waited),
        "FP4 before V3": by["FP4 training"].waited(by["FP8 training"].use_date),
    }
    return float(found[what])


def dates() -> list[dict[str, Any]]:
    """A row a technique: its paper, its chip, what used it."""
    return [
        {
            "technique": row.technique,
            "described": row.paper_date,
            "chip": f"{row.chip}, {row.announced} (sold {row.shipped or 'never'})",
            "used at full size": f"{row.use}, {row.use_date}",
            "chip waited (months)": row.waited() if row.first == "hardware" else None,
        }
        for row in frontier.hardening()
    ]


def latent(on: str) -> Quantity:
    """Attention of DeepSeek-V3 on eight, 512 answers at once."""
    asked: dict[str, Any] = {"tp": 1, "ep": TP, "batch": 512, "context": 2048}
    found = serving.estimate("deepseek-v3", on, **asked)
    return next(p.time for p in found.parts if p.name == ATTENTION)

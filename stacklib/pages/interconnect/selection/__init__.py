"""Section 6.4: Which algorithm, at which size?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.evidence import measurements
from stacklib.evidence.calibrate.left_out import unseen
from stacklib.evidence.predict.collectives import collective_of, fabric_of, size_of
from stacklib.evidence.validate import Validation, validate
from stacklib.evidence.validate.score import LARGE as LARGE_FROM
from stacklib.interconnect.selection import constants as c
from stacklib.interconnect.selection.machine import Fabric, fabric
from stacklib.interconnect.selection.select import Choice, select
from stacklib.interconnect.selection.timed import (
    Timed,
    bus_factor,
    collective_time,
    family,
)
from stacklib.pages import chain
from stacklib.pages.figures_of import measured, row
from stacklib.pages.interconnect.collectives import exchanges as exchanges
from stacklib.pages.interconnect.selection import claims
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    stamp,
)
from stacklib.roofline.work.moving import moving_time

MODEL, TP, TOKENS = chain.MODEL, chain.TP, chain.CONTEXT
DEVICE, OTHER, RACK = "h100_sxm", "b200_sxm", 72
# A log that prints what was chosen, from 32 KiB to 16 GiB.
LOGGED = (
    "D-0163",
    "D-0166",
    "D-0168",
    "D-0169",
    "D-0172",
    "D-0174",
    "D-0176",
    "D-0182",
)
WORST = ("D-0153", "D-0154", "D-0152", "D-F116", "D-F117")  # folded, by source
SWITCH, RING = "D-0234", "D-0235"  # a maintainer of NCCL: what both reach
BY_RANKS = {5: "D-F103", 8: "D-F106"}  # NVLS, 4 GiB
WHOLE_RACK = "D-F110"  # 72 GB200, 4 GiB
FEW_BYTES = {"efa": "D-F133", "tcpxo": "D-F209"}  # 8 bytes on two nodes
OWN, LIBRARY = "D-0119", "D-0029"  # 8 KiB: an engine's own kernel, and NCCL
PROTOCOLS = {"ll": "LL", "ll128": "LL128", "simple": "Simple"}
Candidate = tuple[str, str]
LL, NVLS = ("ring", "ll"), ("nvls", "simple")


# -- the model's own numbers -----------------------------------------------------------


def size(tokens: int = 1) -> Quantity:
    """Bytes of an exchange: an activation in bf16 for each token."""
    hidden = models.get(MODEL).size("hidden", "hidden size")
    found = hidden * bytes_per_element("bf16")
    if tokens > 1:
        found = found * chosen(tokens, label="tokens of a prompt")
    return found.named(f"bytes of an exchange, {tokens} tokens")


def steps() -> Quantity:
    """Steps round a ring of eight, there and back."""
    others = chosen(TP, label="ranks") - chosen(1, label="itself")
    return (others * chosen(2, label="times round")).named("steps of a ring")


def constant(table: str, algorithm: str, protocol: str) -> Quantity:
    """A constant of NCCL's source, microseconds: ``base``, or ``hop`` over NVLink."""
    return c.constant(table, algorithm, protocol)


@cache
def machine(device: str = DEVICE, ranks: int = TP) -> Fabric:
    """Ranks on a device."""
    return fabric(device, ranks)


@cache
def chosen_by(of: float, device: str = DEVICE, ranks: int = TP) -> Choice:
    """NCCL's choice for an all-reduce, and all that was in question."""
    return select("all_reduce", of, **machine(device, ranks).select())


def part_of(what: str, of: Quantity, candidate: Candidate) -> float:
    """Seconds, or the rate, of one candidate for an exchange of a size."""
    row = chosen_by(of.si).of(*candidate)
    value = {"time": row.time, "alpha": row.latency, "rate": row.bandwidth}[what]
    assert value is not None
    return value


def candidate(what: str, name: Candidate, of: Quantity | None = None) -> Quantity:
    """``alpha``, ``rate`` or ``time`` of one, on eight H100."""
    of = size() if of is None else of
    unit = "B/s" if what == "rate" else "s"
    label = f"{what} of {' '.join(name)}" + (f", {of.text()}" if what == "time" else "")
    band = family(of.si, machine())
    found = counted(part_of, what, of, name, unit=unit, label=label, family=band)
    return found.to("GB/s" if what == "rate" else "us")


def cross() -> Quantity:
    """The size from which the switches' sum is quicker than the ring with flags."""
    more = candidate("alpha", NVLS) - candidate("alpha", LL)
    one = chosen(1, "B", label="a byte")
    ring, nvls = (moving_time(one, candidate("rate", name)) for name in (LL, NVLS))
    return (one * more / (ring - nvls)).named("size where ring and switches cross")


# -- what it takes ---------------------------------------------------------------------


@cache
def timed(of: float, device: str = DEVICE, ranks: int = TP) -> Timed:
    """An all-reduce, in a graph: no call of it from Python."""
    return collective_time("all_reduce", of, machine(device, ranks))


def seconds(of: Quantity, device: str, ranks: int, what: str = "time") -> float:
    """Seconds of an exchange by NCCL's choice, or of a part of it."""
    return float(getattr(timed(of.si, device, ranks), what))


def time(
    of: Quantity | None = None,
    device: str = DEVICE,
    ranks: int = TP,
    what: str = "time",
) -> Quantity:
    """Its time by NCCL's choice, or ``alpha`` or ``fill`` of it."""
    of = size() if of is None else of
    short = hardware.get(device).short
    label = f"{what} of an all-reduce of {of.text()}, {ranks} x {short}"
    band, asked = family(of.si, machine(device, ranks)), (of, device, ranks, what)
    return counted(seconds, *asked, unit="s", label=label, family=band).to("us")


def token(device: str = DEVICE) -> Quantity:
    """All exchanges of a token."""
    short = hardware.get(device).short
    return (exchanges() * time(device=device)).named(f"exchanges of a token, {short}")


def prompt(device: str = DEVICE) -> Quantity:
    """All exchanges of a prompt."""
    short = hardware.get(device).short
    found = exchanges() * time(size(TOKENS), device)
    return found.named(f"exchanges of a prompt, {short}").to("ms")


def gain(ranks: int = TP) -> Quantity:
    """Arrays that a ring sends over the one that a switch needs."""
    two, one = chosen(2, label="times round"), chosen(1, label="itself")
    count = chosen(ranks, label="ranks")
    return (two * (count - one) / count).named(f"most that switches save, {ranks}")


def reached() -> Quantity:
    """What switches reach over what a ring does, as its maintainer has both."""
    return (measured(SWITCH) / measured(RING)).named("switches over ring, published")


def bus_of(device: str, ranks: int, algorithm: str | None = None) -> float:
    """Bus bandwidth of 4 GiB, bytes a second."""
    on = machine(device, ranks)
    return collective_time("all_reduce", 1 << 32, on, algorithm=algorithm).bus


def bus(device: str, ranks: int, algorithm: str | None = None) -> Quantity:
    """What an all-reduce of 4 GiB has on the bus."""
    short = hardware.get(device).short
    return counted(
        bus_of,
        *(device, ranks, algorithm),
        unit="B/s",
        label=f"bus bandwidth, {ranks} x {short}",
        family=family(1 << 32, machine(device, ranks)),
    ).to("GB/s")


def far(of: Quantity, network: str) -> float:
    """Seconds of an exchange between two nodes of a network."""
    on = fabric(DEVICE, 16, network=network)
    return collective_time("all_reduce", of.si, on).time


def between(network: str) -> Quantity:
    """A token's exchange between two nodes of eight H100."""
    of = size()
    return counted(
        far,
        *(of, network),
        unit="s",
        label=f"{of.text()} over {network}, two nodes",
        family=family(of.si, machine(DEVICE, 16)),
    ).to("us")


def adding(dtype: str) -> Quantity:
    """Additions a second of a Quantum-X800, every port at its full rate."""
    return claims.adds(dtype)


def worse() -> Quantity:
    """Cards on PCI Express over as many GPUs with NVLink."""
    return (cards() / four()).named("PCI Express over NVLink, four ranks")


def cards() -> Quantity:
    """The prompt's exchange on the table's four cards, whose slots nobody tells."""
    return time(size(TOKENS), "l40s", 4)


def four() -> Quantity:
    """The same on four H100 with NVLink."""
    return time(size(TOKENS), ranks=4)


# -- others' runs ----------------------------------------------------------------------


@cache
def judged(by: str = "") -> Validation:
    """Published collectives; with ``by`` each by a fit that never saw its group."""
    report = validate(r for r in measurements.fitted() if r.family == "D")
    return unseen(report, by) if by else report


@counting(lambda key, what: f"{what.replace('_', ' ')}, {key}")
def error(key: str, what: str = "median_error") -> float:
    """The larger error of both folds, relative: ``D_large`` or ``D_small``."""
    folds = ("source", "device")
    return max(float(getattr(judged(by).families[key], what)) for by in folds)


@counting("collectives, {what}")
def rows_judged(what: str = "outcomes") -> int:
    """How many rows there are, or were ``predicted``."""
    return len(getattr(judged(), what))


@counting("predicted over measured, {id}")
def off(id: str) -> float:
    """Predicted over measured, by a fit without the row's source."""
    return next(o.ratio for o in judged("source").outcomes if o.row.id == id)


def run(id: str) -> Quantity:
    """A published run's time, whatever its metric: from its bus bandwidth."""
    one, found = row(id), measured(id)
    if one.unit not in ("ms", "us"):
        kind, ranks = collective_of(one), fabric_of(one).ranks
        many = counted(bus_factor, kind, ranks, label="bus bytes of a byte")
        sent = counted(bytes_of, id, unit="B", label=f"bytes of {id}")
        found = moving_time(many * sent, found)
    return found.named(f"time of {id}, from its bus bandwidth").to("us")


def bytes_of(id: str) -> float:
    """Bytes of a published run's exchange."""
    return size_of(row(id))


def ratio_of(id: str) -> float:
    """A run's predicted time over its measured one, by a fit without its source."""
    found = next(o for o in judged("source").outcomes if o.row.id == id)
    return found.ratio if found.row.unit in ("ms", "us") else 1 / found.ratio


def foretold(id: str) -> Quantity:
    """The same predicted by a fit that has not seen its source."""
    over = counted(ratio_of, id, label=f"predicted over measured, {id}")
    told = stamp(run(id) * over, family(size_of(row(id)), fabric_of(row(id))))
    return told.named(f"predicted time of {id}, source unseen").to("us")


def named(algorithm: str, protocol: str) -> str:
    """A candidate in the reader's words; what has one protocol only is not told it."""
    if algorithm.startswith("nvls"):
        return "NVLS, a tree between" if algorithm == "nvls_tree" else "NVLS"
    return f"{algorithm}, {PROTOCOLS[protocol]}"


def in_words(of: float) -> str:
    """A power of two in binary units."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if of >= 1 << power:
            return f"{of / (1 << power):g} {unit}"
    return f"{of:g} B"


def log() -> list[dict[str, Any]]:
    """Rows of the table: what a log says was chosen, and what the model chooses."""
    rows = []
    for id in LOGGED:
        row = next(r for r in measurements.public() if r.id == id)
        told = chosen_by(size_of(row), "h200_sxm")
        logged = row.text("algo").lower().split("/")
        both = {named(*logged), named(told.algorithm, told.protocol)}
        rows.append(
            {
                "size": in_words(size_of(row)),
                "logged and chosen": " or ".join(sorted(both)),
                "predicted": foretold(id),
                "measured": run(id),
            }
        )
    return rows


def logged_size(at: int) -> Quantity:
    """Size of a row of the table."""
    row = next(r for r in measurements.public() if r.id == LOGGED[at])
    return counted(size_of, row, unit="B", label=f"size of {row.id}")


@counting("rows of the log with the same choice")
def same_choice() -> int:
    """How many rows of the log the model chooses alike."""
    rows = [r for r in measurements.public() if r.family == "D" and "algo" in r.config]
    told = [chosen_by(size_of(r), "h200_sxm") for r in rows]
    named = [f"{t.algorithm}/{t.protocol}" for t in told]
    assert named == [r.text("algo").lower() for r in rows]
    return len(rows)


def limit() -> Quantity:
    """From which size an array counts as large."""
    return chosen(LARGE_FROM, "B", label="large array")


def flags() -> Quantity:
    """Latency of protocols with flags, other generations over Hopper."""
    return hardware.efficiency_quantity("collective_flags")


def boards() -> list[dict[str, Any]]:
    """Rows of the table: what is chosen on other machines."""
    boxes = (("a100_sxm_80gb", 8), (DEVICE, 8), (OTHER, 8), ("l40s", 4))
    cases = (*boxes, (DEVICE, 16), ("gb200", RACK))
    rows = []
    for device, ranks in cases:
        few, many = (timed(s.si, device, ranks) for s in (size(), size(TOKENS)))
        rows.append(
            {
                "machine": f"{ranks} x {hardware.get(device).short}",
                "for a token": named(few.algorithm, few.protocol),
                "token": time(size(), device, ranks),
                "for a prompt": named(many.algorithm, many.protocol),
                "prompt": time(size(TOKENS), device, ranks),
            }
        )
    return rows


def points() -> list[tuple[str, Quantity, Quantity]]:
    """Class, measured and predicted time of each row that has one."""
    found = []
    for one in judged("source").predicted:
        row = one.row
        if "moe" in row.subject.lower():
            if row.unit == "us":
                found.append(("experts", run(row.id), foretold(row.id)))
            continue
        kind = "nodes" if fabric_of(row).nodes > 1 else "node"
        found.append((kind, run(row.id), foretold(row.id)))
    return found

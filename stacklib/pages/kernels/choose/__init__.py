"""Section 4.12: Which kernel should you write?

A training step of the book's small model, profiled once (`profile_torch`), and the
token's step as section 4.2 leaves it; what each kernel of them could save, and what the
roofline and hours of work advise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.evidence.runs import HOST
from stacklib.kernels.launch.launches import replay_time
from stacklib.kernels.plan.advise import ROUTES, TERMS, Advice, Profile, advise
from stacklib.pages.figures_of import claimed
from stacklib.pages.kernels.choose import claims
from stacklib.quantity import (
    Quantity,
    assumed,
    chosen,
    counted,
    counting,
    one_of,
    recorded,
)
from stacklib.quantity.files import PACKAGE
from stacklib.quantity.leaves import stamp
from stacklib.roofline import decode_step
from stacklib.roofline.work.moving import memory_time, moving_time
from stacklib.tinylm.config import DATA, read_config, shapes

FILE = "stacklib/pages/kernels/choose/profile.json"
PARTS = ("products", "attention", "elementwise", "loss", "the rest")
PHASES = ("forward", "backward", "optimizer")
STEPS_OF_MUON = 5  # iterations of Newton and Schulz, three products each
BACKWARD = 2.5  # operations of attention's backward pass over those of its forward one
PASSES = 5  # of the logits: one read and one written forward, two and one backward
ONE = "one kernel for a token's step"
claim = claimed  # a figure of a source document
YEAR, FEW, MANY = 8760, 8, 128  # hours; GPUs of a small fleet and of a large one


# -- a training step, profiled ---------------------------------------------------------


@cache
def profiled() -> dict[str, Any]:
    """The profile of a training step."""
    return json.loads((PACKAGE.parent / FILE).read_text(encoding="utf-8"))


@cache
def _summed(field: str, unit: str, part: str, phase: str = "") -> Quantity:
    """A field of the profile's rows of a part, or of one phase of it."""
    found = [
        recorded(FILE, f"rows/{at}", field, unit=unit, label=f"{row['op']}, {phase_}")
        for at, row in enumerate(profiled()["rows"])
        for phase_ in [row["phase"]]
        if part == (row["part"] if row["part"] in PARTS else "the rest")
        and phase in ("", phase_)
    ]
    return sum(found[1:], found[0])


def time_of(part: str, phase: str = "") -> Quantity:
    """Measured time of a part of the step, or of one phase of it."""
    label = f"time of {part}{f', {phase}' if phase else ''}"
    return _summed("self_s", "s", part, phase).named(label)


def whole() -> Quantity:
    """Measured time of all operators of the step."""
    first, *others = map(time_of, PARTS)
    return sum(others, first).named("time of the step")


def share(part: str, phase: str = "") -> Quantity:
    """A part's share of the step, or that of one phase of it."""
    label = f"share of {part}{f', {phase}' if phase else ''}"
    return (time_of(part, phase) / whole()).named(label)


def calls(part: str) -> Quantity:
    """Operators of a part in one step."""
    return _summed("calls", "", part).named(f"calls of {part}")


def gap() -> Quantity:
    """Share of the clock's time in which no operator ran."""
    clock = _one("wall_s", "s", "time of the step by the clock")
    return (1 - whole() / clock).named("between operators")


def _one(field: str, unit: str, label: str) -> Quantity:
    return recorded(FILE, "", field, unit=unit, label=label)


def operators() -> Quantity:
    """Operators of a step."""
    first, *others = map(calls, PARTS)
    return sum(others, first).named("operators of the step")


@counting("work of {part}")
def work(part: str) -> float:
    """Operations of a part whose work is counted; of the loss, bytes that cross."""
    made = profiled()
    config = read_config(DATA / made["model"] / "config.json")
    tokens = made["batch"] * made["tokens"]
    if part == "products":
        sizes = [s for s in shapes(config).values() if len(s) == 2]
        step = sum(6.0 * tokens * a * b for a, b in sizes)
        for name, size in shapes(config).items():
            if len(size) == 2 and "layers" in name:
                a, b = sorted(size)
                step += STEPS_OF_MUON * (4.0 * a * a * b + 2.0 * a**3)
        return step
    if part == "attention":
        width = config.num_attention_heads * config.head_dim
        pairs = made["batch"] * made["tokens"] ** 2 / 2
        forward = 4.0 * pairs * width * config.num_hidden_layers
        return forward * (1 + BACKWARD)
    return 4.0 * PASSES * tokens * config.vocab_size


def least(part: str) -> Quantity:
    """Time of a part by this machine's roofline, one core."""
    if part == "loss":
        rate = _one("bandwidth", "B/s", "bandwidth")
        time = moving_time(work(part) * one_of("B"), rate)
    else:
        time = work(part) * one_of("FLOP") / _one("peak", "FLOP/s", "peak")
    return stamp(time, HOST).named(f"least time of {part}")


def slowness(part: str) -> Quantity:
    """Time of a part over its roofline's."""
    return (time_of(part) / least(part)).named(f"{part} over its roofline")


def saved(part: str) -> Quantity:
    """Share of the step that a perfect kernel for a part would save."""
    gain = 1 - least(part) / time_of(part)
    return (share(part) * gain).named(f"saved by a perfect {part}")


def shares() -> dict[str, tuple[float, float]]:
    """Milliseconds now, and by the roofline, of the parts whose work is counted."""
    parts = ("products", "attention", "loss")
    both = ((p, (time_of(p), least(p))) for p in parts)
    return {p: (round(1e3 * a.si, 1), round(1e3 * b.si, 1)) for p, (a, b) in both}


# -- the token's step ------------------------------------------------------------------


def reading() -> Quantity:
    """Time in which eight H100s read what a token needs."""
    return decode_step("llama-3-70b", on="h100_sxm", tp=8, context=4096).time


def node() -> Quantity:
    """Time from a node of a graph to the next, at its lowest."""
    return launches_cost("node")


def launches_cost(name: str) -> Quantity:
    """A published cost of section 4.1, at its lowest."""
    from stacklib.pages.kernels.launches.claims import cost

    return cost(name, "low")


def kernels() -> Quantity:
    """Kernels of the step after fusion."""
    from stacklib.pages.kernels import fusion

    return fusion.kernels()


def fused() -> Quantity:
    """Time of the step of fused kernels, as a graph."""
    from stacklib.pages.kernels import fusion

    return fusion.step()


def left() -> Quantity:
    """Time of the step as one kernel, which starts once."""
    made: Quantity = replay_time(
        chosen(1, label="kernels"),
        reading(),
        replay_s=launches_cost("replay"),
        node_s=node(),
    )
    return made.named("step, one kernel")


def starts() -> Quantity:
    """Time of the fused step between its kernels."""
    return (fused() - left()).named("between kernels")


# -- advice ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A profile that somebody might have, but for its fleet."""

    name: str
    share: float
    seconds: float
    operations: float
    bytes: float
    moved: float
    device: str = "h100-sxm"
    needs: tuple[str, ...] = ()
    library: bool = False


@cache
def _norm() -> Any:
    """A layer norm of 8,192 rows as seven calls, fused."""
    from stacklib.kernels.launch.fuse import fuse
    from stacklib.kernels.launch.fuse_graphs import layernorm_graph

    return fuse(layernorm_graph(8192, 8192))


def _layernorm() -> Case:
    made = _norm()
    now = memory_time(made.unfused_bytes, "h100-sxm") / 0.85
    work = 8.0 * 8192**2
    return Case(
        "layer norm as seven calls",
        0.15,
        now,
        work,
        made.fused_bytes,
        made.unfused_bytes,
    )


def _product(device: str, of_peak: float) -> tuple[float, float, float]:
    """Seconds, operations and bytes of a product of 8,192 at a share of the peak."""
    operations, moved = 2.0 * 8192**3, 3.0 * 8192**2 * 2
    peak = hardware.get(device).peak("bf16").si
    return operations / (of_peak * peak), operations, moved


@cache
def cases() -> dict[str, Case]:
    """Profiles of the page."""
    now, work, moved = _product("h100-sxm", 0.8)
    slow, work_b, moved_b = _product("b200", 0.25)
    routed = 1e9  # bytes that an H100 gathers and scatters for its experts
    part = starts().si / fused().si
    found = (
        Case(ONE, part, starts().si, 0, 0, 1.0, needs=("tensor", "new-unit")),
        _layernorm(),
        Case(
            "product at 80 % of the peak",
            0.5,
            now,
            work,
            moved,
            moved,
            needs=("tensor",),
            library=True,
        ),
        Case(
            "routing of experts",
            0.1,
            memory_time(3 * routed, "h100-sxm"),
            0,
            routed,
            2 * routed,
            needs=("data-dependent",),
        ),
        Case(
            "attention on new units",
            0.3,
            slow,
            work_b,
            moved_b,
            moved_b,
            "b200",
            ("new-unit", "data-dependent"),
        ),
    )
    return {case.name: case for case in found}


def profile(case: Case, gpu_hours: float) -> Profile:
    """The profile of a case in a fleet."""
    return Profile(
        case.name,
        seconds=case.seconds,
        share=case.share,
        operations=case.operations,
        bytes=case.bytes,
        moved=case.moved,
        gpu_hours=gpu_hours,
        device=case.device,
        needs=frozenset(case.needs),
        library=case.library,
    )


def advice(name: str, gpus: int) -> Advice:
    """What is advised for a case in a fleet that runs for a year."""
    return advise(profile(cases()[name], gpus * YEAR))


def first_route(name: str) -> Any:
    """The open route that pays first."""
    open_to = [o for o in advice(name, MANY).options if not o.refused]
    return min(open_to, key=lambda o: o.enough)


def pays_from(name: str) -> Quantity:
    """GPU-hours from which on the first route pays; infinite where it saves nothing."""
    return counted(
        first_route, name, take="enough", unit="h", label=f"pays from, {name}"
    )


def gain(name: str) -> Quantity:
    """Share of the time that this route saves."""
    return counted(first_route, name, take="saved", label=f"saved, {name}")


def fleet(gpus: int) -> Quantity:
    """GPU-hours of a fleet in a year."""
    hours = chosen(YEAR, "h", label="hours of a year")
    return (chosen(gpus, label="GPUs") * hours).named(f"a year of {gpus} GPUs")


def wage() -> Quantity:
    """What an hour of work costs."""
    return assumed(TERMS["wage"].value, "USD/h", "wage", why=TERMS["wage"].why)


def price() -> Quantity:
    """What an hour of a GPU costs."""
    return assumed(TERMS["gpu"].value, "USD/h", "GPU", why=TERMS["gpu"].why)


def hours(route: str) -> Quantity:
    """Hours of work that a route takes."""
    (row,) = (r for r in ROUTES if r.name == route)
    return assumed(row.hours, "h", f"hours of {route}", why=row.why)


def reach(route: str, *, memory: bool = False) -> Quantity:
    """Share of the peak, or of the bandwidth, that a route reaches."""
    (row,) = (r for r in ROUTES if r.name == route)
    what = f"{route}, of the {'bandwidth' if memory else 'peak'}"
    return assumed(row.memory if memory else row.compute, "", what, why=row.why)


def break_even(name: str = ONE) -> Quantity:
    """GPU-hours from which on a case's first route pays, in quantities."""
    cost = hours(first_route(name).route) * wage()
    return (cost / (gain(name) * price())).named(f"break-even, {name}")


# -- a Triton kernel, and what it is held against --------------------------------------


@counting("bytes of seven calls over those of one kernel")
def fewer() -> float:
    """Times fewer bytes for a layer norm as one kernel."""
    return _norm().unfused_bytes / _norm().fused_bytes


@counting("calls of a layer norm")
def calls_of_norm() -> int:
    """Kernels of a layer norm without fusion."""
    return sum(map(len, _norm().kernels))


def over_triton(software: str) -> Quantity:
    """Median speed of an attention kernel over Triton's, published pairs."""
    return counted(claims.ratio, software, label=f"{software} over Triton")


@counting("pairs of {software}")
def pairs(software: str) -> int:
    """Shapes on which both were published."""
    return len(claims.pairs(software))

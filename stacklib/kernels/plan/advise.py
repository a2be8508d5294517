"""When to write a kernel, and in what: the roofline's seconds against hours of work.

A profile says what a kernel takes now and what it has to do. Its roofline says what it
could take; a *route* (leave it, the compiler, a library, Triton, CUTLASS and its CuTe
DSL, CUDA) says how much of that can be had, and for how many hours of somebody's work:

    new    = max(operations / (peak r_c), bytes / (bandwidth r_m))
    saved  = share x (1 - new / now)                 of the fleet's GPU-hours
    worth  = saved x GPU-hours x price - hours x wage

``bytes`` are those that must cross: what the operations of a chain hand each other is
fused away on every route. The answer is the route that is worth most; below zero, none
is. Every number that is a judgement stands in ``ROUTES`` or ``TERMS`` with its reason,
and a reader puts others in their place. Left out: what a faster kernel makes possible,
and who keeps it running.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stacklib import hardware
from stacklib.quantity.bounds import above_zero, at_least
from stacklib.roofline.work.bounds import bound_time


@dataclass(frozen=True, slots=True)
class Profile:
    """A kernel, or a chain of them, as a profiler shows it.

    - ``seconds``: float; of a call, all kernels of the chain together.
    - ``share``: float; of the GPU's time, from 0 to 1.
    - ``operations``: float; it has to do, in its format's unit.
    - ``bytes``, ``moved``: float; that must cross to memory, and that cross now: the
      difference can be fused away.
    - ``gpu_hours``: float; of the whole fleet, over the time for which the kernel would
      be used.
    - ``needs``: frozenset of str; what some routes cannot do, as ``Route.cannot`` lists
      it: ``"data-dependent"`` control, ``"tensor"`` work beyond a library's,
      ``"new-unit"`` instructions of a generation that has just come out.
    - ``library``: bool; whether a library has just this.
    """

    name: str
    seconds: float
    share: float
    operations: float
    bytes: float
    moved: float
    gpu_hours: float
    device: str = "h100-sxm"
    dtype: str = "bf16"
    needs: frozenset[str] = frozenset()
    library: bool = False

    def __post_init__(self) -> None:
        above_zero(seconds=self.seconds, moved=self.moved)
        at_least(0, operations=self.operations, bytes=self.bytes)
        at_least(0, gpu_hours=self.gpu_hours, share=self.share)
        if self.share > 1:
            raise ValueError(f"share = {self.share!r}: of all time, at most 1")
        if self.bytes > self.moved:
            raise ValueError(
                f"bytes = {self.bytes!r} must cross, moved = {self.moved!r} do: less"
            )


@dataclass(frozen=True, slots=True)
class Route:
    """A way to a faster kernel."""

    name: str
    hours: float  # until it is right, fast, tested and merged
    compute: float  # share of the peak that it can reach
    memory: float  # share of the bandwidth
    cannot: frozenset[str]
    why: str


@dataclass(frozen=True, slots=True)
class Term:
    """A number that is a judgement, with its reason."""

    value: float
    unit: str
    why: str


_CHANGING, _PRODUCT, _NEW = "data-dependent", "tensor", "new-unit"
ROUTES = (
    Route(
        "compiler",
        4,
        0.70,
        0.85,
        frozenset({_CHANGING, _PRODUCT, _NEW}),
        "fuses elementwise operations and rows; products stay the library's. An "
        "afternoon, for graph breaks and shapes that change",
    ),
    Route(
        "library",
        16,
        0.80,
        0.90,
        frozenset({_CHANGING, _PRODUCT}),
        "FP16 FlashAttention-3 and cuBLAS reach 75 to 85 % of a Hopper's peak. Two "
        "days, for layouts and a build",
    ),
    Route(
        "triton",
        80,
        0.70,
        0.90,
        frozenset({_NEW}),
        "within 5 to 10 % of CUDA (document 003), but not on units it cannot name: "
        "FA-4 is up to 2.7 times as fast as Triton on a B200. Two weeks",
    ),
    Route(
        "cutlass",
        320,
        0.80,
        0.90,
        frozenset(),
        "layouts and pipelines are given, the schedule is yours: FA-4, in CuTe DSL, "
        "has 71 % of a B200. Two months",
    ),
    Route(
        "cuda",
        800,
        0.85,
        0.93,
        frozenset(),
        "everything can be said: DeepGEMM's 1,550 TFLOP/s are 78 % of an H800's FP8 "
        "peak. Five months, its tests included",
    ),
)
TERMS = {
    "wage": Term(
        150, "USD/h", "an engineer who can, with what an employer pays besides"
    ),
    "gpu": Term(2.5, "USD/h", "an H100 by the hour in 2026, long contracts less"),
    "least": Term(
        0.02, "share", "savings below two percent drown between two releases"
    ),
}


@dataclass(frozen=True, slots=True)
class Option:
    """A route for a profile: what it gives and costs."""

    route: str
    seconds: float  # of a call, afterwards
    saved: float  # share of the fleet's time
    hours: float
    worth: float  # USD, what is saved less what the hours cost
    enough: float  # GPU-hours from which on it pays; infinity where it saves nothing
    refused: str = ""  # why the route is out of the question


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do, and all that was weighed."""

    do: str  # a route's name, or "leave it"
    why: str
    bound: str  # "memory" or "compute"
    attained: float  # least time over time
    fusable: float  # share of the bytes moved that need not be
    options: tuple[Option, ...]


def advise(
    profile: Profile,
    *,
    routes: Sequence[Route] = ROUTES,
    terms: Mapping[str, Term] = TERMS,
) -> Advice:
    """Whether to write a kernel, and in what.

    Parameters
    ----------
    profile : Profile
        What was measured of the kernel, and its counts.
    routes : sequence of Route
        Ways to write it: the share of the roofline each reaches, the hours it costs.
    terms : mapping of str to Term
        Prices and thresholds, each with its reason.

    Raises
    ------
    ValueError
        When the profile is faster than its roofline: then its counts are wrong.
    UnknownName, UnknownSpec
        For a device that is unknown, or has no rate for the format.
    """
    device = hardware.get(profile.device)
    peak, rate = device.peak(profile.dtype).si, device.memory_bandwidth.si
    least = bound_time(profile.operations, profile.bytes, peak, rate)
    if least > profile.seconds:
        raise ValueError(
            f"{profile.name}: {profile.seconds:.3g} s is less than its roofline's "
            f"{least:.3g} s on {device.short}: its counts or its format are wrong"
        )
    floor = bound_time(profile.operations, 0.0, peak, rate)
    bound = "compute" if floor >= profile.bytes / rate else "memory"
    options = tuple(_option(profile, r, peak, rate, terms) for r in routes)
    fusable = 1 - profile.bytes / profile.moved
    do, why = _chosen(options, terms["least"].value)
    return Advice(do, why, bound, least / profile.seconds, fusable, options)


def _option(
    profile: Profile, route: Route, peak: float, rate: float, terms: Mapping[str, Term]
) -> Option:
    lacks = sorted(profile.needs & route.cannot)
    refused = f"it cannot do: {', '.join(lacks)}" if lacks else ""
    if route.name == "library" and not profile.library:
        refused = "no library has it"
    new = bound_time(
        profile.operations, profile.bytes, peak * route.compute, rate * route.memory
    )
    saved = profile.share * max(0.0, 1 - new / profile.seconds)
    price = terms["gpu"].value
    cost = route.hours * terms["wage"].value
    worth = saved * profile.gpu_hours * price - cost
    enough = cost / (saved * price) if saved else float("inf")
    return Option(route.name, new, saved, route.hours, worth, enough, refused)


def _chosen(options: Sequence[Option], least: float) -> tuple[str, str]:
    open_to = [o for o in options if not o.refused]
    if not open_to:
        return "leave it", "no route is open"
    best = max(open_to, key=lambda o: o.worth)
    most = max(o.saved for o in open_to)
    if most < least:
        return "leave it", f"at best {most:.1%} of the time is saved"
    if best.worth <= 0:
        soon = min(open_to, key=lambda o: o.enough)
        return "leave it", f"{soon.route} pays from {soon.enough:,.0f} GPU-hours on"
    if best.saved < least:
        return "leave it", f"{best.route} would save {best.saved:.1%} of the time"
    return best.route, f"{best.saved:.1%} of the time for {best.hours:,.0f} hours"

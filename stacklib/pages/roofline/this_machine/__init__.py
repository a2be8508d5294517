"""Setup of section 1.4 How fast is the machine under your hands?"""

from __future__ import annotations

from stacklib.evidence import results, runs
from stacklib.hardware import get as get_device
from stacklib.quantity import Quantity, assumed, counted

from . import machine


def level(name: str) -> machine.LevelRow:
    """One row of the single-thread table, or an error where it was not found."""
    row = next((r for r in machine.level_rows(1) if r.level == name), None)
    if row is None or row.rate is None:
        raise results.ResultError(f"host_levels: no level {name} was found here")
    return row


def given(value: Quantity | None, what: str) -> Quantity:
    if value is None:
        raise results.ResultError(f"{what} was not found on the book's machine")
    return value


def l1_rate() -> Quantity:
    """Triad of one thread within the first-level cache."""
    return given(level("L1").rate, "L1")


def memory_rate() -> Quantity:
    """Triad of one thread far beyond the caches."""
    return given(level("memory").rate, "memory")


def worst_edge() -> Quantity:
    """Largest distance of a found capacity from the reported one, one thread."""
    ratios = [r.ratio for r in machine.level_rows(1) if r.ratio is not None]
    worst = max(ratios, key=lambda q: abs(q.si - 1))
    return (worst - 1 if worst.si >= 1 else 1 - worst).named("distance from reported")


def edges() -> Quantity:
    """Cache levels that the curve of one thread shows."""
    found = [r.level for r in machine.level_rows(1) if r.found is not None]
    return counted(len, found, label="levels found")


def level_error() -> Quantity:
    """Median error of all predicted times of one thread, over loops and sizes."""
    every = runs.load(machine.LEVELS)
    return runs.median_error(run for run in every if run.case["threads"] == 1)


def two_threads() -> Quantity:
    """Triad beyond the caches on all cores, over that of one thread."""
    every = machine.memory_rate("triad", machine.cores())
    return every / machine.memory_rate("triad", 1)


def widest() -> str:
    return machine.widths()[-1].isa


def dot_n() -> Quantity:
    """Elements of the dot product that is written in every way."""
    words = "elements of a dot product"
    return machine.read("host_simd", "dot-python", "n", label=words)


def dot_python() -> Quantity:
    """Time of that dot product as a loop in Python."""
    return machine.seconds("dot-python")


def dot_best() -> Quantity:
    """Time of that dot product at the widest vectors, eight sums at once."""
    return machine.seconds(f"dot-{widest()}-8")


def lanes() -> Quantity:
    """fp32 lanes of the widest registers that the processor reports."""
    label = f"fp32 lanes of {widest()}"
    why = "The width of its registers, which the instruction set fixes."
    return assumed(machine.widths()[-1].lanes, label=label, why=why)


def add_wait() -> Quantity:
    """Time from one addition to the next that needs its result."""
    return machine.seconds("dot-scalar-1") / dot_n()


def add_predicted() -> Quantity:
    """What the committed prediction allowed for one addition in a chain."""
    return given(machine.predicted("dot-scalar-1"), "its prediction") / dot_n()


def peak() -> Quantity:
    """fp32 multiply-adds of one core, at its widest, in registers."""
    return machine.peak(widest())


def blas_core() -> Quantity:
    """Fastest fp32 product of BLAS on this machine, a core's share."""
    ceiling = get_device("this_machine").peak("fp32")
    used = machine.LEVELS, "machine", "usable_cores"
    count = machine.read(*used, label="cores that BLAS used")
    return (ceiling / count).named("BLAS, one core's share")

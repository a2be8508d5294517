"""Numbers of the section on this machine: its levels, its width, its copies."""

from __future__ import annotations

from stacklib.hardware import get as get_device
from stacklib.quantity import Quantity
from stacklib.roofline.host import levels as host_levels
from stacklib.roofline.host import simd as host_simd

from .. import machine, results
from .registry import number


def _level(name: str) -> machine.LevelRow:
    """One row of the single-thread table, or an error where it was not found."""
    row = next((r for r in machine.level_rows(1) if r.level == name), None)
    if row is None or row.rate is None:
        raise results.ResultError(f"host_levels: no level {name} was found here")
    return row


def _given(value: Quantity | None, what: str) -> Quantity:
    if value is None:
        raise results.ResultError(f"{what} was not found on the book's machine")
    return value


# -- levels --------------------------------------------------------------------


@number("machine.l1", unit="KiB", digits=2, evidence="measured")
def l1() -> Quantity:
    """First-level data cache of a core, as the system reports it."""
    return _given(_level("L1").reported, "L1")


@number("machine.l3", unit="MiB", digits=2, evidence="measured")
def l3() -> Quantity:
    """Last cache of the machine, as the system reports it."""
    return _given(_level("L3").reported, "L3")


@number("machine.l1_found", unit="KiB", digits=2, evidence="measured")
def l1_found() -> Quantity:
    """Size at which the bandwidth of one thread leaves its first level."""
    return _given(_level("L1").found, "the end of L1")


@number("machine.l1_rate", digits=2, evidence="measured")
def l1_rate() -> Quantity:
    """Triad of one thread within the first-level cache."""
    return _given(_level("L1").rate, "L1")


@number("machine.memory_rate", digits=2, evidence="measured")
def memory_rate() -> Quantity:
    """Triad of one thread far beyond the caches."""
    return _given(_level("memory").rate, "memory")


@number("machine.fall", digits=2, evidence="measured")
def fall() -> Quantity:
    """Bandwidth in the first-level cache over bandwidth in memory, one thread."""
    return l1_rate() / memory_rate()


@number("machine.worst_edge", unit="%", digits=2, evidence="measured")
def worst_edge() -> Quantity:
    """Largest distance of a found capacity from the reported one, one thread."""
    ratios = [r.ratio for r in machine.level_rows(1) if r.ratio is not None]
    worst = max(ratios, key=lambda q: abs(q.si - 1))
    return (worst - 1 if worst.si >= 1 else 1 - worst).named("distance from reported")


@number("machine.edges", digits=1, evidence="measured")
def edges() -> Quantity:
    """Cache levels that the curve of one thread shows."""
    found = sum(r.found is not None for r in machine.level_rows(1))
    where = "triad, 1 thread: plateaus with an end"
    return machine.measured(found, "", "levels found", machine.LEVELS, where)


@number("machine.level_error", unit="%", digits=2, evidence="measured")
def level_error() -> Quantity:
    """Median error of all predicted times of one thread, over loops and sizes."""
    errors = sorted(machine.level_errors(1))
    where = "rows with 1 thread, against the committed prediction"
    middle = errors[len(errors) // 2]
    return machine.measured(middle, "", "median error", machine.LEVELS, where)


@number("machine.two_threads", digits=2, evidence="measured")
def two_threads() -> Quantity:
    """Triad beyond the caches on all cores, over that of one thread."""
    every = machine.memory_rate("triad", machine.cores())
    return every / machine.memory_rate("triad", 1)


# -- counting ------------------------------------------------------------------


def _elements() -> Quantity:
    return Quantity(1, "", label="one element")


def _fp64() -> Quantity:
    return Quantity(host_levels.ELEMENT, "B", label="bytes of an fp64 number")


@number("machine.copy_counted", digits=2)
def copy_counted() -> Quantity:
    """Bytes that STREAM counts for one element of a copy: read one, write one."""
    return host_levels.counted_bytes("copy", _elements(), _fp64()).named(
        "counted for an element of a copy"
    )


@number("machine.copy_moved", digits=2)
def copy_moved() -> Quantity:
    """Bytes the wires carry for it where a store first reads its line."""
    return host_levels.moved_bytes("copy", _elements(), _fp64()).named(
        "moved for an element of a copy"
    )


@number("machine.past_predicted", digits=2)
def past_predicted() -> Quantity:
    """How much faster a copy should be when its stores pass the cache by."""
    return copy_moved() / copy_counted()


def _widest() -> str:
    return machine.widths()[-1].isa


@number("machine.copy_plain", digits=2, evidence="measured")
def copy_plain() -> Quantity:
    """Large copy with stores through the cache, both arrays counted."""
    return machine.copy_rate(_widest())


@number("machine.copy_past", digits=2, evidence="measured")
def copy_past() -> Quantity:
    """Large copy with stores that pass the cache by, both arrays counted."""
    return machine.copy_rate(f"{_widest()}-past-cache")


@number("machine.past_measured", digits=2, evidence="measured")
def past_measured() -> Quantity:
    """How much faster the copy was whose stores pass the cache by."""
    return copy_past() / copy_plain()


# -- heights and width -----------------------------------------------------------


@number("machine.dot_n", digits=4)
def dot_n() -> Quantity:
    """Elements of the dot product that is written in every way."""
    return Quantity(host_simd.DOT_N, "", label="elements of a dot product")


@number("machine.dot_python", unit="µs", digits=2, evidence="measured")
def dot_python() -> Quantity:
    """Time of that dot product as a loop in Python."""
    return machine.seconds("dot-python")


@number("machine.dot_best", unit="ns", digits=2, evidence="measured")
def dot_best() -> Quantity:
    """Time of that dot product at the widest vectors, eight sums at once."""
    return machine.seconds(f"dot-{_widest()}-8")


@number("machine.dot_gain", digits=2, evidence="measured")
def dot_gain() -> Quantity:
    """Python's time over the time of the widest vectors."""
    return dot_python() / dot_best()


@number("machine.blas_over_c", digits=2, evidence="measured")
def blas_over_c() -> Quantity:
    """Time of three compiled loops over one call of BLAS, for the same product."""
    return machine.seconds("matmul-c-o3") / machine.seconds("matmul-blas")


@number("machine.lanes", digits=2, evidence="measured")
def lanes() -> Quantity:
    """fp32 lanes of the widest registers that the processor reports."""
    label = f"fp32 lanes of {_widest()}"
    return machine.measured(
        machine.widths()[-1].lanes, "", label, machine.SIMD, "machine.simd"
    )


@number("machine.width_ratio", digits=2, evidence="measured")
def width_ratio() -> Quantity:
    """Scalar over widest time, where one addition waits for the one before."""
    return machine.seconds("dot-scalar-1") / machine.seconds(f"dot-{_widest()}-1")


@number("machine.add_wait", unit="ns", digits=2, evidence="measured")
def add_wait() -> Quantity:
    """Time from one addition to the next that needs its result."""
    steps = Quantity(host_simd.DOT_N, "", label="additions in a row")
    return machine.seconds("dot-scalar-1") / steps


@number("machine.add_predicted", unit="ns", digits=2)
def add_predicted() -> Quantity:
    """What the committed prediction allowed for one addition in a chain."""
    steps = Quantity(host_simd.DOT_N, "", label="additions in a row")
    return _given(machine.predicted("dot-scalar-1"), "its prediction") / steps


@number("machine.eight_sums", digits=2, evidence="measured")
def eight_sums() -> Quantity:
    """What eight running sums gain over one, one number at a time."""
    return machine.seconds("dot-scalar-1") / machine.seconds("dot-scalar-8")


@number("machine.peak", digits=2, evidence="measured")
def peak() -> Quantity:
    """fp32 multiply-adds of one core, at its widest, in registers."""
    return machine.peak(_widest())


@number("machine.blas_core", digits=2, evidence="measured")
def blas_core() -> Quantity:
    """Fastest fp32 product of BLAS on this machine, a core's share."""
    ceiling = get_device("this_machine").peak("fp32")
    label = "cores that BLAS used"
    count = machine.measured(machine.cores(), "", label, machine.LEVELS, "threads")
    return (ceiling / count).named("BLAS, one core's share")


@number("machine.roof_gap", digits=2, evidence="measured")
def roof_gap() -> Quantity:
    """One core's peak over its share of the fastest product of BLAS."""
    return peak() / blas_core()

"""Numbers of the section on the memory ladder, and on the chases that climb it."""

from __future__ import annotations

from functools import cache
from statistics import median

from stacklib import hardware
from stacklib.memory.cache.chase_model import ChaseLevel, served
from stacklib.memory.ladder.rungs import Rung, ladder, launched_copy, mean_step
from stacklib.memory.warp.banks import BANKS, WORD
from stacklib.quantity import Quantity, Source

from .. import by_level, chases, machine, results, validate
from .registry import number

H100, B200, A100, CURVE = "h100_sxm", "b200_sxm", "a100_sxm_80gb", "h100_pcie"
LISTED = ("registers", "shared memory", "L2", "HBM")
PAGE = 4096  # bytes of the small pages of this machine


@cache
def _rungs(device: str) -> dict[str, Rung]:
    return {rung.name: rung for rung in ladder(device)}


def _of(device: str, level: str, field: str) -> Quantity:
    """A field of a rung, or an error where nobody has published it."""
    value = getattr(_rungs(device)[level], field)
    if value is None:
        raise hardware.UnknownSpec(f"{device}: {field} of {level} is unknown")
    return value


# -- latency ----------------------------------------------------------------------


@number("ladder.register_time", unit="ns", digits=2, evidence="measured")
def register_time() -> Quantity:
    """Time until an operation of an H100 can use the result of the one before."""
    return _of(H100, "registers", "latency")


@number("ladder.register_cycles", digits=2, evidence="measured")
def register_cycles() -> Quantity:
    """The same in cycles."""
    return _plain(_of(H100, "registers", "cycles"))


@number("ladder.shared_time", unit="ns", digits=2, evidence="measured")
def shared_time() -> Quantity:
    """Time of a load from shared memory of an H100."""
    return _of(H100, "shared memory", "latency")


@number("ladder.hbm_time", unit="ns", evidence="measured")
def hbm_time() -> Quantity:
    """Time of a dependent load from the idle memory of an H100."""
    return _of(H100, "HBM", "latency")


@number("ladder.hbm_cycles", evidence="measured")
def hbm_cycles() -> Quantity:
    """The same in cycles."""
    return _plain(_of(H100, "HBM", "cycles"))


@number("ladder.drive_time", unit="µs", digits=2, evidence="spec")
def drive_time() -> Quantity:
    """Time of one read from a flash drive, from memory."""
    return _of(H100, "drive", "latency")


@number("ladder.penalty", digits=3, evidence="measured")
def penalty() -> Quantity:
    """Dependent operations that fit into one load from HBM."""
    return (hbm_cycles() / register_cycles()).named("HBM over registers")


@number("ladder.l2_near", evidence="measured")
def l2_near() -> Quantity:
    """Cycles of a load from the near side of an H100's L2."""
    return _plain(_of(H100, "L2", "cycles"))


@number("ladder.l2_far", evidence="measured")
def l2_far() -> Quantity:
    """Cycles of a load from the far side of an H100's L2."""
    return _plain(_of(H100, "L2, far side", "cycles"))


@number("ladder.far_over_near", digits=2, evidence="measured")
def far_over_near() -> Quantity:
    """Far side of the L2 over its near side."""
    return l2_far() / l2_near()


@number("ladder.hbm_over_far", digits=2, evidence="measured")
def hbm_over_far() -> Quantity:
    """HBM over the far side of the L2, in latency."""
    return hbm_cycles() / l2_far()


@number("ladder.host_cycles", digits=2)
def host_cycles() -> Quantity:
    """Cycles of a load that a running kernel makes from the host's memory."""
    return _plain(_of(H100, "host", "cycles"))


@number("ladder.copy_cycles", digits=2)
def copy_cycles() -> Quantity:
    """Cycles of the smallest copy that the host launches and waits for."""
    return _plain(launched_copy(H100) * hardware.get(H100).clock)


@number("ladder.host_claimed", digits=2, evidence="claimed")
def host_claimed() -> Quantity:
    """Cycles to the host's memory, as a learning guide prints them."""
    return _plain(_claimed("lat-pcie-30000"))


@number("ladder.mean_step", digits=2, evidence="measured")
def step() -> Quantity:
    """Mean step of latency from a register of an H100 to its HBM."""
    return mean_step([_rungs(H100)[name] for name in LISTED], "cycles")


@number("ladder.claimed_step", digits=2, evidence="claimed")
def claimed_step() -> Quantity:
    """The step that documents claim for every level."""
    return _claimed("lat-order-of-magnitude")


@number("ladder.last_step", digits=2)
def last_step() -> Quantity:
    """Latency of a drive over that of the host's memory, from an H100."""
    return _of(H100, "drive", "cycles") / _of(H100, "host", "cycles")


def _plain(cycles: Quantity) -> Quantity:
    """A count of cycles without the unit: the sentence says *cycles*."""
    return cycles / Quantity(1, "cycle", label="one cycle")


def _claimed(id: str) -> Quantity:
    from ..ledger import get  # the ledger checks itself against the numbers

    return get(id).quantity()


# -- capacity ---------------------------------------------------------------------


@number("ladder.registers_unit", unit="KiB", evidence="spec")
def registers_unit() -> Quantity:
    """Register file of one unit of an H100."""
    return _of(H100, "registers", "unit_capacity")


@number("ladder.shared_unit", unit="KiB", evidence="spec")
def shared_unit() -> Quantity:
    """Shared memory of one unit of an H100."""
    return _of(H100, "shared memory", "unit_capacity")


@number("ladder.registers_all", unit="MB", digits=3)
def registers_all() -> Quantity:
    """Registers of all units of an H100."""
    return _of(H100, "registers", "chip_capacity")


@number("ladder.shared_all", unit="MB", digits=3)
def shared_all() -> Quantity:
    """Shared memory of all units of an H100."""
    return _of(H100, "shared memory", "chip_capacity")


@number("ladder.l2_mb", unit="MB", digits=3, evidence="spec")
def l2_mb() -> Quantity:
    """L2 of an H100."""
    return _of(H100, "L2", "chip_capacity")


@number("ladder.sram_all", unit="MB", digits=3)
def sram_all() -> Quantity:
    """Registers, shared memory and L2 of an H100 together."""
    return registers_all() + shared_all() + l2_mb()


@number("ladder.tens", unit="kB", digits=2, evidence="claimed")
def tens() -> Quantity:
    """Registers of a unit as one page of a learning guide has them."""
    return _claimed("registers-tens-of-kb")


# -- bandwidth --------------------------------------------------------------------


@number("ladder.units", evidence="spec")
def units() -> Quantity:
    """Compute units of an H100."""
    return hardware.get(H100).compute_units


@number("ladder.clock", unit="GHz", evidence="spec")
def clock() -> Quantity:
    """Clock of an H100."""
    return hardware.get(H100).clock


@number("ladder.banks", evidence="spec")
def banks() -> Quantity:
    """Banks of a unit's shared memory."""
    return Quantity(BANKS, label="banks", kind="assumption")


@number("ladder.word", evidence="spec")
def word() -> Quantity:
    """Bytes a bank gives in a cycle, and bytes of a register."""
    return Quantity(WORD, "B", label="bytes of a word", kind="assumption")


@number("ladder.lanes", evidence="spec")
def lanes() -> Quantity:
    """Multiply-adds in fp32 that one unit of an H100 starts in a cycle."""
    each = hardware.get(H100).peaks["fp32"].per_unit_per_cycle
    if each is None:
        raise hardware.UnknownSpec(f"{H100}: operations of a unit and cycle")
    return (each / Quantity(2, "FLOP/cycle", label="of a multiply-add")).named("lanes")


@number("ladder.operands", evidence="spec")
def operands() -> Quantity:
    """Operands that a multiply-add reads."""
    return Quantity(3, label="operands of a b + c", kind="assumption")


@number("ladder.shared_one", unit="TB/s", digits=2)
def shared_one() -> Quantity:
    """Bandwidth of one unit's shared memory, H100."""
    return _of(H100, "shared memory", "unit_bandwidth")


@number("ladder.registers_one", unit="TB/s", digits=2)
def registers_one() -> Quantity:
    """Operands that one unit of an H100 reads from its registers."""
    return _of(H100, "registers", "unit_bandwidth")


@number("ladder.registers_rate", unit="TB/s", digits=3)
def registers_rate() -> Quantity:
    """Operands that all units of an H100 read from their registers."""
    return _of(H100, "registers", "chip_bandwidth")


@number("ladder.rate_ratio", digits=2)
def rate_ratio() -> Quantity:
    """Bandwidth of an H100's registers over that of its HBM."""
    return registers_rate() / _of(H100, "HBM", "chip_bandwidth")


@number("ladder.shared_b200", unit="TB/s", digits=3)
def shared_b200() -> Quantity:
    """Shared memory of all units of a B200."""
    return _of(B200, "shared memory", "chip_bandwidth")


@number("ladder.shared_a100", unit="TB/s", digits=3)
def shared_a100() -> Quantity:
    """Shared memory of all units of an A100."""
    return _of(A100, "shared memory", "chip_bandwidth")


@number("ladder.claimed_registers", unit="TB/s", digits=2, evidence="claimed")
def claimed_registers() -> Quantity:
    """Register bandwidth as a source document prints it."""
    return _claimed("mem-register-bandwidth")


@number("ladder.claimed_shared", unit="TB/s", digits=2, evidence="claimed")
def claimed_shared() -> Quantity:
    """Shared memory bandwidth as a source document prints it."""
    return _claimed("mem-shared-bandwidth")


@number("ladder.claimed_within", unit="TB/s", digits=2, evidence="claimed")
def claimed_within() -> Quantity:
    """Bandwidth inside each unit as a learning guide prints it, the low end."""
    return _claimed("within-sm-10-20")


@number("ladder.within_ratio", digits=2)
def within_ratio() -> Quantity:
    """That figure over the shared memory of one unit of an H100."""
    return claimed_within() / shared_one().across(1)


# -- the published chase ------------------------------------------------------------


def _edge(i: int) -> Quantity:
    curve = chases.curves()[CURVE]
    size = curve.found[i].size
    if size is None:
        raise results.ResultError(f"{CURVE}: level {i} has no end")
    return curve.quantity(size, "B", f"end of level {i + 1}")


@number("ladder.found_l1", unit="KiB", digits=3, evidence="measured")
def found_l1() -> Quantity:
    """Working set at which a published chase on an H100 leaves the first level."""
    return _edge(0)


@number("ladder.found_near", unit="MiB", digits=2, evidence="measured")
def found_near() -> Quantity:
    """Working set at which it leaves the near side of the L2."""
    return _edge(1)


@number("ladder.found_far", unit="MiB", digits=2, evidence="measured")
def found_far() -> Quantity:
    """Working set at which it leaves the L2."""
    return _edge(2)


@number("ladder.l2_half", unit="MiB", digits=2, evidence="spec")
def l2_half() -> Quantity:
    """Half of the L2 of that H100."""
    half = hardware.get(CURVE).l2_capacity / Quantity(2, label="partitions of the L2")
    return half.named("half of the L2")


@number("ladder.curve_error", unit="%", digits=2, evidence="measured")
def curve_error() -> Quantity:
    """Median error of the predicted curve at the sizes of the published one."""
    curve = chases.curves()[CURVE]
    told = chases.predicted_curve(CURVE, curve.sizes)
    errors = [abs(a / b - 1) for a, b in zip(told, curve.cycles, strict=True)]
    return curve.quantity(median(errors), "1", "median error")


# -- this machine -------------------------------------------------------------------


def _cache(level: str) -> chases.CacheRow:
    return next(row for row in chases.cache_rows() if row.level == level)


def _given(value: Quantity | None, what: str) -> Quantity:
    if value is None:
        raise results.ResultError(f"{chases.SWEEP}: {what} was not found here")
    return value


@number("ladder.here_l1", unit="KiB", digits=2, evidence="measured")
def here_l1() -> Quantity:
    """First cache of this machine, as the chase shows it."""
    return _given(_cache("L1").by_chase, "the end of L1")


@number("ladder.here_l1_reported", unit="KiB", digits=2, evidence="measured")
def here_l1_reported() -> Quantity:
    """First cache of this machine, as the system reports it."""
    return _given(_cache("L1").reported, "L1")


@number("ladder.here_l2", unit="KiB", digits=2, evidence="measured")
def here_l2() -> Quantity:
    """Second cache of this machine, as the chase shows it."""
    return _given(_cache("L2").by_chase, "the end of L2")


@number("ladder.here_l2_reported", unit="KiB", digits=4, evidence="measured")
def here_l2_reported() -> Quantity:
    """Second cache of this machine, as the system reports it."""
    return _given(_cache("L2").reported, "L2")


@number("ladder.here_l3", unit="MiB", digits=2, evidence="measured")
def here_l3() -> Quantity:
    """Third cache of this machine, as the chase shows it."""
    return _given(_cache("L3").by_chase, "the end of L3")


@number("ladder.here_l3_reported", unit="MiB", digits=2, evidence="measured")
def here_l3_reported() -> Quantity:
    """Third cache of this machine, as the system reports it."""
    return _given(_cache("L3").reported, "L3")


@number("ladder.here_l3_stream", unit="MiB", digits=2, evidence="measured")
def here_l3_stream() -> Quantity:
    """Third cache of this machine, as the bandwidth of a loop shows it."""
    return _given(_cache("L3").by_stream, "the end of L3 by bandwidth")


@number("ladder.here_l1_time", unit="ns", digits=2, evidence="measured")
def here_l1_time() -> Quantity:
    """Load from the first cache of this machine."""
    return _given(_cache("L1").latency, "L1")


@number("ladder.here_memory_time", unit="ns", digits=2, evidence="measured")
def here_memory_time() -> Quantity:
    """Load from the memory of this machine."""
    return _given(_cache("memory").latency, "memory")


@number("ladder.here_ratio", digits=2, evidence="measured")
def here_ratio() -> Quantity:
    """Memory of this machine over its first cache, in latency."""
    return here_memory_time() / here_l1_time()


@number("ladder.here_ways", digits=2, evidence="measured")
def here_ways() -> Quantity:
    """Ways of this machine's second cache, as the system reports them."""
    ways = chases.reported_ways()["L2"]
    return machine.measured(ways, "1", "ways of L2", chases.SWEEP, "sysfs")


@number("ladder.here_page", unit="KiB", digits=1, evidence="spec")
def here_page() -> Quantity:
    """Bytes of a small page."""
    return Quantity(PAGE, "B", label="a page", kind="assumption")


@number("ladder.colours", digits=2)
def colours() -> Quantity:
    """Places that a page can have in that cache."""
    way = here_l2_reported() / here_ways()
    return (way / here_page()).named("page colours")


@number("ladder.l2_kept", unit="%", digits=2)
def l2_kept() -> Quantity:
    """Share of a working set as large as the second cache that stays in it."""
    size, ways = here_l2_reported(), here_ways()
    cache = ChaseLevel("L2", 1, int(size.si), int(ways.si), 64)
    shares = served(int(size.si), (cache, ChaseLevel("memory", 2)), 64, PAGE)
    share = Quantity(shares[0], "1", label="kept share, expected", kind="assumption")
    return share * (size / size) * (ways / ways)


@number("ladder.small_error", unit="%", digits=2, evidence="measured")
def small_error() -> Quantity:
    """Median error of the prediction, working sets up to the second cache's size."""
    return _sweep_error(0.0, here_l2_reported().si, "up to the size of L2")


@number("ladder.large_error", unit="%", digits=2, evidence="measured")
def large_error() -> Quantity:
    """Median error of it, working sets from there to the reported third cache."""
    low, high = here_l2_reported().si, here_l3_reported().si
    return _sweep_error(low, high, "from L2 to L3 as reported")


def _sweep_error(low: float, high: float, where: str) -> Quantity:
    error = median(chases.sweep_errors(low, high))
    return machine.measured(error, "1", "median error", chases.SWEEP, where)


# -- published results --------------------------------------------------------------


def _counted(rows: int, label: str) -> Quantity:
    """A number of rows of the published measurements."""
    where = "family C, rows that speak of one level"
    title = "the published measurements of this book"
    source = Source(title, where, "2026-11-22", "measured")
    return Quantity(rows, label=label, source=source, kind="measured")


@number("ladder.rows", digits=4, evidence="measured")
def rows() -> Quantity:
    """Published latencies and bandwidths of a level that are predicted."""
    return _counted(len(by_level.family().predicted), "rows")


@number("ladder.read_back", digits=4, evidence="measured")
def read_back() -> Quantity:
    """Of these, the ones whose constant comes from their own source."""
    found = sum(row["read back"] for row in by_level.level_rows())
    return _counted(found, "rows read back")


@number("ladder.bar", unit="%", digits=2, evidence="spec")
def bar() -> Quantity:
    """Median error that the plan of the book asks of this family."""
    return Quantity(validate.BARS["C"].median, label="bar, median", kind="assumption")


@number("ladder.bar_p90", unit="%", digits=2, evidence="spec")
def bar_p90() -> Quantity:
    """The same for nine rows in ten."""
    return Quantity(validate.BARS["C"].p90, label="bar, p90", kind="assumption")

"""How long an attention kernel takes on a device: tiles, waves, bytes, a launch.

A block holds a tile of queries and walks over the keys. How long a tile takes is the
business of ``rules``: the class of the software and the device's matrix instruction say
which generation's rule it runs by.

- ``naive``: three kernels, scores written to memory and read again;
- ``library``: FlashAttention-2 where warps multiply, a compiler's kernel (Triton of its
  time) where warp groups do;
- ``tuned``: what was written for the device: FlashAttention-3 and 4, cuDNN.

Blocks fill waves over the units; a block pays its first loads, which wait for one
another, and its last store (``attention_fill``). K and V of the heads under way are
read again by every block of queries unless the L2 holds them. Few queries against many
keys are split over keys, so that every unit reads; a second kernel merges; how a kernel
cuts is a row of ``cuts``. FLOPs are halved under a causal mask; the backward pass has
five products for the forward's two (FlashAttention-2, section 3.1.2) and two kernels of
rows beside it (its release, flash_bwd_preprocess_kernel.h). In an engine page
tables and prompts of unequal length cost products a share of their pace
(``attention_served``), not the softmax.

Left out: page tables' own bytes, masks other than causal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.gpu.issue.instructions import LANES, instruction
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.quantity import Quantity, bytes_per_element, resolve
from stacklib.quantity import dtype as find_dtype
from stacklib.roofline.bound import gemm, hierarchy
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible

from .cuts import PLAIN, Cut, filled, whole
from .rates import UnitRates, launch_pace, rates_of
from .rules import BACKWARD, COLUMNS, ROWS, Rule, rule_of, settled, tile_time

SOFTWARE = ("naive", "library", "tuned")
# Queries of the smallest matrix instruction; where its rows are keys (TensorRT-LLM on
# Hopper and Blackwell), queries are its columns, and as few. Where none is known, more.
_LEAST_ROWS, _UNKNOWN_ROWS = 16, 32
_HELD = 512  # columns of K and of V that the blocks of a unit hold at once


@dataclass(frozen=True, slots=True)
class Attention:
    """One attention: sizes, formats and how it is called."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    head_dim: int
    dtype: str = "bf16"
    causal: bool = False
    value_dim: int | None = None  # of V, where it differs from K's
    kv_dtype: str | Quantity | None = (
        None  # in which K and V are kept, where it differs
    )
    backward: bool = False
    warp_level: bool = False  # multiplied by mma.sync, also where something newer is
    served: bool = False  # by an engine: pages, prompts of unequal length
    window: int | None = None  # keys that a query sees, itself included
    cut: Cut = PLAIN  # how the kernel's blocks share it out

    @property
    def wide(self) -> int:
        """Columns of V."""
        return self.head_dim if self.value_dim is None else self.value_dim

    @property
    def flops(self) -> float:
        """Operations as papers count them: halved under a causal mask."""
        pairs = float(self.queries * self.keys)
        if self.causal and self.window is not None and self.window < self.keys:
            later = self.window - 1 - (self.keys - self.queries)
            short = max(0, min(self.queries, later))  # queries that see fewer
            pairs = self.queries * self.window - short * (later - (short - 1) / 2)
        elif self.causal and self.queries == self.keys:
            pairs /= 2
        once = 2.0 * self.batch * self.heads * pairs * (self.head_dim + self.wide)
        return once * (BACKWARD if self.backward else 1.0)

    @property
    def kv_bytes(self) -> float:
        """Bytes of K and V of one head; of a latent V is the first columns of K."""
        each = bytes_per_element(self.kv_dtype or self.dtype).si
        latent = self.kv_heads == 1 and self.wide < self.head_dim
        return self.keys * (self.head_dim + self.wide * (not latent)) * each

    @property
    def query_bytes(self) -> float:
        """Bytes of all queries and results, once; gradients come and go as well."""
        each = max(2.0, bytes_per_element(self.dtype).si)
        rows = self.batch * self.heads * self.queries
        return rows * (self.head_dim + self.wide) * each * (3 if self.backward else 1)


@dataclass(frozen=True, slots=True)
class AttentionTime:
    """Predicted seconds of an attention kernel, and what they are made of."""

    time: float
    tensor: float  # of products, with the last wave and each block's fill
    exp: float  # of exponentials and what else a softmax is
    memory: float
    launch: float
    waves: float  # seconds that the last wave and the fills add
    bound: str  # ``tensor``, ``exp``, ``memory``, ``launch`` or ``waves``
    splits: int = 1  # shares of the keys

    def rate(self, flops: float) -> float:
        """FLOP/s at this time."""
        return flops / self.time


def _checked(work: Attention, software: str) -> str:
    for name in ("batch", "heads", "kv_heads", "queries", "keys", "head_dim"):
        value = getattr(work, name)
        if value != int(value) or value < 1:
            raise ValueError(f"{name} = {value!r}: a whole number from 1 on")
    if work.heads % work.kv_heads:
        raise ValueError(f"kv_heads = {work.kv_heads} must divide {work.heads} heads")
    if work.causal and work.queries > work.keys:
        raise ValueError(
            f"queries = {work.queries} > keys = {work.keys}: a causal mask leaves the "
            "first queries without a key"
        )
    return resolve(software, SOFTWARE, "class of attention kernel")


def _tiles(work: Attention, rows: int, columns: int, group: int) -> tuple[float, int]:
    """Tiles of all blocks of one head, and of its longest block."""
    blocks = math.ceil(work.queries * group / rows)
    if not work.causal:
        each = math.ceil(work.keys / columns)
        return float(blocks * each), each
    skipped = work.keys - work.queries
    window = work.keys if work.window is None else work.window
    walked = []
    for i in range(blocks):
        end = min(work.keys, skipped + math.ceil((i + 1) * rows / group))
        first = max(0, skipped + i * rows // group - window + 1)
        walked.append(math.ceil(end / columns) - first // columns)
    return float(sum(walked)), max(walked)


@dataclass(frozen=True, slots=True)
class _Grid:
    """How an attention is cut: tiles, blocks, splits."""

    rows: int
    blocks: int
    tiles: float  # of all blocks
    longest: float  # tiles of the longest block
    splits: int


def _grid(work: Attention, rule: Rule, units: int, least: int) -> _Grid:
    group = work.heads // work.kv_heads
    cut = work.cut
    # heads in a tile of queries, as many as fit
    fit = group if cut.packs == "all" else max(1, ROWS // work.queries)
    fit = 1 if cut.packs == "none" or work.backward else min(fit, group)
    packed = next(n for n in range(fit, 0, -1) if group % n == 0)
    heads = work.batch * work.heads // packed
    asked = work.queries * packed
    rows = min(rule.rows, max(cut.rows, least * math.ceil(asked / least)))
    step = cut.columns or rule.columns
    tiles, longest = (n * step / COLUMNS for n in _tiles(work, rows, step, packed))
    blocks = heads * math.ceil(asked / rows)
    splits = 1
    if asked <= ROWS and not work.backward:  # one block a head: share out the keys
        asked_for = cut.shares(work.keys, blocks, units)
        splits = max(1, min(math.ceil(longest), asked_for))
        if splits > 1:  # by a kernel of larger tiles (num_splits_heuristic's blocks)
            tiles, longest = _tiles(work, rows, COLUMNS, packed)
    return _Grid(rows, blocks * splits, heads * tiles, longest / splits, splits)


def _memory(
    work: Attention, device: Accelerator, repeated: bool
) -> tuple[float, float]:
    """Bytes from the memory, and the share of them that a loop finds in the L2."""
    l2 = device.fields["l2_capacity"]
    capacity = 0.0 if l2 is None else float(l2.si)
    kept = hierarchy.kept_share(device)
    heads = work.batch * work.kv_heads
    group = work.heads // work.kv_heads
    shared = 1 if work.cut.packs == "none" else group
    passes = group // shared * math.ceil(work.queries * shared / ROWS)
    units = device.fields["compute_units"]
    running = min(heads, max(1.0, (1 if units is None else units.si) / passes))
    near = running * work.kv_bytes  # that the blocks under way share
    holds = hierarchy.hit_share(near, capacity, kept) if capacity else 0.0
    again = (passes - 1) * (1 - holds) * (0.5 if work.causal else 1.0)
    once = heads * work.kv_bytes * (3 if work.backward else 1) + work.query_bytes
    moved = once + heads * work.kv_bytes * again
    hits = hierarchy.hit_share(once, capacity, kept) if repeated and capacity else 0.0
    return moved, float(hits)


def _naive(work: Attention, device: Accelerator, repeated: bool) -> AttentionTime:
    """Three kernels: scores, softmax, values; the scores pass through memory."""
    groups, dtype = work.batch * work.heads, find_dtype(work.dtype).name
    each = bytes_per_element(dtype).si
    first, last = (
        gemm.Product(work.queries, n, k, dtype, each, each, each, groups)
        for n, k in ((work.keys, work.head_dim), (work.wide, work.keys))
    )
    found = [gemm.gemm_time(w, device, "stream") for w in (first, last)]
    scores = groups * work.queries * work.keys * each
    rate = hierarchy.stream_rate(device, "mixed", None).rate
    # Backward: the softmax reads P and dP and writes dS; four products for two.
    times_each, passes = (2, 3) if work.backward else (1, 2)
    softmax = passes * scores / rate
    floor = hardware.efficiency("launch_kernel")
    times = {
        "tensor": times_each * sum(f.compute for f in found),
        "memory": times_each * sum(f.memory for f in found) + softmax,
        "launch": times_each * sum(f.launch for f in found) + floor,
    }
    time = times_each * sum(f.time for f in found) + softmax + floor
    bound = max(times, key=lambda name: times[name])
    return AttentionTime(
        time, times["tensor"], 0.0, times["memory"], times["launch"], 0.0, bound
    )


def rows_at_once(device: Accelerator) -> tuple[int, int]:
    """Fewest rows of a tile, and rows that the largest matrix instruction takes.

    Operands pass once for all rows of an instruction; lanes need no tile.
    """
    try:
        found = instruction(device)
    except UnknownSpec:
        return 1 if device.architecture in LANES else _UNKNOWN_ROWS, 2 * _UNKNOWN_ROWS
    return _LEAST_ROWS, found.rows[-1] // found.units


@dataclass(frozen=True, slots=True)
class Plan:
    """An attention read against a device: all that efficiency factors do not move."""

    work: Attention
    device: Accelerator
    software: str
    repeated: bool
    rule: Rule
    rates: UnitRates
    chip: gemm.Chip
    grid: _Grid
    lone: _Grid | None  # the same with no keys shared out, where that may be quicker
    moved: float  # bytes from the memory
    hits: float  # share of them that the L2 keeps from one run to the next
    at_once: int  # rows of one matrix instruction
    latency: float  # seconds until a load from memory is back; 0 where unknown
    starts: float  # how long a kernel takes to start, by the clock


def plan(
    work: Attention,
    on: str | Accelerator,
    software: str,
    repeated: bool = False,
    *,
    by: Rule | None = None,
    rates: UnitRates | None = None,
) -> Plan:
    """Tiles, waves and bytes of an attention on a device.

    ``repeated``: timed in a loop over the same operands, which the L2 may keep; ``by``,
    ``rates``: another rule and other rates than those of software and device.
    """
    software = _checked(work, software)
    device = device_of(on)
    need = work.batch * work.kv_heads * work.kv_bytes + work.query_bytes
    capacity = device.fields["memory_capacity"]
    if capacity is not None and need > capacity.si:
        raise Infeasible(
            f"{need / 1e9:.4g} GB of queries, keys and values > "
            f"{capacity.si / 1e9:.4g} GB on {device.short}: does not fit"
        )
    rates = rates or rates_of(device, work.dtype)
    rule = by or rule_of(software, device, work.warp_level)
    rule = rule if by else settled(rule, rates, work.head_dim)
    chip = gemm.chip_of(device, find_dtype(work.dtype).name)
    least, at_once = rows_at_once(device)
    units = max(1, int(rates.units))
    grid, lone = _grid(work, rule, units, least), None
    if grid.splits > 1 and work.cut.shares is filled and not work.served:
        unshared = replace(work, cut=replace(work.cut, shares=whole))
        lone = _grid(unshared, rule, units, least)
    moved, hits = _memory(work, device, repeated)
    latency = hardware.level(device, "dram").latency
    return Plan(
        work,
        device,
        software,
        repeated,
        rule,
        rates,
        chip,
        grid,
        lone,
        moved,
        hits,
        at_once,
        0.0 if latency is None else float(latency.si),
        launch_pace(rates),
    )


def tile_seconds(found: Plan) -> tuple[float, float, float]:
    """Seconds of one tile: all of it, its products, its softmax."""
    work, each = found.work, found.rates.clock
    tile = tile_time(
        found.rule,
        found.rates,
        rows=found.grid.rows,
        head_dim=work.head_dim,
        value_dim=work.wide,
        dtype=work.dtype,
        at_once=found.at_once,
        backward=work.backward,
        held=hardware.efficiency("attention_served") if work.served else 1.0,
    )
    step = work.cut.columns or found.rule.columns
    beside = min(found.grid.blocks / max(1.0, found.rates.units), _HELD / work.head_dim)
    waits = work.cut.stalls * found.latency * COLUMNS / step / max(1.0, beside)
    return tile.cycles / each + waits, tile.products / each, tile.softmax / each


def predict(found: Plan) -> AttentionTime:
    """The time of a plan with the efficiency factors in force."""
    if found.lone is not None:  # a kernel shares keys out where that pays
        ways = (replace(found, grid=g, lone=None) for g in (found.grid, found.lone))
        return min(map(predict, ways), key=lambda way: way.time)
    work, device, grid, chip = found.work, found.device, found.grid, found.chip
    if found.software == "naive":
        return _naive(work, device, found.repeated)
    units, factor = max(1.0, found.rates.units), hardware.efficiency
    tile, products, softmax = tile_seconds(found)
    # Tiles that a block loses, no more than it has, and waits for.
    fill = min(factor("attention_fill") / COLUMNS, grid.longest)
    waves = grid.blocks / units
    even = grid.tiles / units
    fill += work.cut.trips * found.latency / tile
    full = waves + (math.ceil(waves) - waves) * factor("wave_tail")
    if work.causal:  # long blocks first: short ones fill the last wave
        paid = max(even + waves * fill, grid.longest + fill)
        # FA-2's own grid is in order of the queries: long ones come last, unless all
        # blocks, two a unit, are under way at once.
        if found.rule.warp_level and not work.served and waves > 2:
            paid += factor("wave_tail") * grid.longest * (1 - 2 / waves)
        paid = min(paid, full * (grid.longest + fill))  # as without a mask
    else:
        paid = full * (grid.tiles / grid.blocks + fill)
    compute = paid * tile
    drawn = device.memory_bandwidth.si * factor("dram_read")
    if found.hits and chip.l2_rate is not None:
        near = max(drawn, chip.l2_rate)
        drawn = 1 / (found.hits / near + (1 - found.hits) / drawn)
    # A share of few keys draws little, and queries and results are no share's.
    enough, alone = units * factor("blocks_per_unit"), grid.blocks / grid.splits
    shares = min(grid.splits, max(1.0, work.keys / COLUMNS / grid.longest))
    memory = (found.moved - work.query_bytes) / min(1.0, alone * shares / enough)
    memory = (memory + work.query_bytes / min(1.0, alone / enough)) / drawn
    kernels = 2 if grid.splits > 1 or work.cut.merges else 1
    aside = 0.0
    if work.backward:  # one before reads O and dO, one after reads dQ and rounds it
        rows = work.batch * work.heads * work.queries
        aside = rows * (4.0 * work.wide + 6.0 * work.head_dim)
        aside /= hierarchy.stream_rate(device, "mixed", None).rate
        kernels += 2
    floor = kernels * factor("launch_kernel") * found.starts
    kept = gemm.slowed(compute, memory, floor, work.flops / chip.peak, chip)
    parts = {
        "tensor": even * products / kept,
        "exp": even * softmax / kept,
        "memory": memory + aside,
        "launch": floor,
        "waves": (paid - even) * tile / kept,
    }
    time = gemm.join(compute / kept, memory) + aside + floor
    bound = max(parts, key=lambda name: parts[name])
    return AttentionTime(float(time), **parts, bound=bound, splits=grid.splits)


def cell(
    work: Attention, device: Accelerator, served: bool = True
) -> tuple[str, str, str]:
    """What an attention is like, as its error band is named.

    What is run (a token or a prompt of an engine, or a kernel alone), what limits it,
    and the format of K and V.
    """
    kind = "kernel" if not served else "token" if work.queries == 1 else "prompt"
    moved = work.batch * work.kv_heads * work.kv_bytes + work.query_bytes
    compute = work.flops / device.peak(work.dtype).si
    memory = moved / device.memory_bandwidth.si
    bound = "compute" if compute > memory else "memory"
    bits = 8 * bytes_per_element(work.kv_dtype or work.dtype).si
    width = "16 bit" if bits > 8 else "8 bit"
    return kind, "launch" if max(compute, memory) < gemm.SMALL else bound, width


def attention_time(
    on: str | Accelerator,
    *,
    batch: int,
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    head_dim: int,
    dtype: str = "bf16",
    causal: bool = False,
    software: str = "tuned",
    value_dim: int | None = None,
    kv_dtype: str | Quantity | None = None,
    backward: bool = False,
    served: bool = False,
) -> AttentionTime:
    """Predicted time of one attention kernel.

    Parameters
    ----------
    queries, keys : int
        Tokens; one query against many keys is decode.
    software : str
        ``naive``, ``library`` or ``tuned``.
    kv_dtype : str or Quantity, optional
        Format in which K and V are kept, or the bits of a number; ``dtype`` where not
        given.
    value_dim : int, optional
        Columns of V, where they are not those of K.
    backward : bool
        The backward pass alone.
    served : bool
        Whether a serving engine runs it, over pages and prompts of unequal length.

    Raises
    ------
    ValueError
        For sizes below one, heads that are no multiple of kv_heads, a causal mask with
        more queries than keys.
    Infeasible
        When queries, keys and values do not fit the memory.
    UnknownName, UnknownSpec
        For a device, format or class that is not known.

    Examples
    --------
    >>> found = attention_time("h100-sxm", batch=64, heads=32, kv_heads=8, queries=1,
    ...     keys=8192, head_dim=128, dtype="bf16", causal=False, software="tuned")
    >>> found.bound
    'memory'
    """
    work = Attention(
        batch,
        heads,
        kv_heads,
        queries,
        keys,
        head_dim,
        dtype,
        causal,
        value_dim,
        kv_dtype,
        backward,
        served=served,
    )
    return predict(plan(work, on, software))

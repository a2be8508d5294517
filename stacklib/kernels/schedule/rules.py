"""How each generation of attention kernels runs a tile, as a table, and its time.

A row says which instruction multiplies, who issues it, and what the generation saves.
``tile_time`` turns a row and the rates of a unit into cycles; ``attention_time`` and
``generations`` both read it. The published headlines stand beside their rows:

FA-2: T. Dao 2023, arXiv 2307.08691, Algorithm 1, figure 5 (A100, 230 TFLOP/s); on H100
arXiv 2407.08608, figure 5 (370 TFLOP/s). FA-3: J. Shah et al. 2024, arXiv 2407.08608,
sections 3.1 to 3.3, 740 TFLOP/s FP16 and 1.3 PFLOP/s FP8 in the abstract. FA-4: T. Dao
et al. 2025, 1,613 TFLOP/s BF16 on B200; two tiles of queries in tensor memory, 10 to
25 % of exponentials in software, rescaling only where a maximum has grown much,
operands of two units shared.

What overlaps, and how well:

- products by a warp of their own (FA-4) hide most: ``attention_apart``, measured;
- warps that multiply and take the softmax hide one another less, in FA-3 by warp
  groups, in FA-2 by the blocks of a unit: ``attention_overlap``, fitted;
- one group alone takes turns, and its times add up (Triton of its time on Hopper).

Warp-level products load their operands by the same warps, so that shared memory is a
third unit beside tensor cores and softmax. In the backward pass it is one for all: P,
dS and dQ go through it as well, and dQ is added up in the L2: a fourth where it goes
there in bulk (FA-3's release, copy_sm90_bulk_reduce.hpp), and behind the same loads
where each warp of FA-2 adds it number by number (flash_bwd_kernel.h, ``atomicAdd``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import bytes_per_element

from .rates import TileWork, UnitRates, newest, tile_work

ROWS, COLUMNS = 128, 128  # of a tile
BACKWARD = 5 / 2  # products of the backward pass over those of the forward
# Instructions for a score beside those of the forward pass: dS = P (dP - D), converted.
_BACKWARD_OPS = 2.5
# Warps of FA-2 hold 32 queries, 16 where a head is wide (its release,
# flash_fwd_launch_template.h): the operands pass once for each.
_WARP_ROWS, _WIDE, _WIDE_ROWS = 32, 128, 16
_NARROW = 64  # head up to which queries pass once for 128 keys
_GROUP_ROWS = 64  # queries of a warp group's instruction
# FA-4's table of settings (its release, flash_fwd_sm100.py) starts at heads of 128 and
# has none in software on sm_103, whose units make 32 a cycle beside 128 FP32 lanes.
# Pairs save slots, no lanes: no cycle is left to save once exponentials are as ample.
_AMPLE_EXP = 1 / 6  # of FP32 lanes


@dataclass(frozen=True, slots=True)
class Rule:
    """How a generation overlaps, and its published headline: a row of the table."""

    name: str
    on: str  # the device of its headline
    dtype: str
    head_dim: int  # and its shape
    published: float  # FLOP/s
    groups: int  # tiles of queries under way on a unit
    ahead: bool  # scores of the next tile before the values of this one
    warp_level: bool  # by mma.sync
    software_exp: float = 0.0  # share of exponentials, where ``settled`` leaves it
    rescale: bool = True  # the running sum is corrected for every tile
    pair: bool = False  # two units share an operand in shared memory
    apart: bool = False  # products issued by a warp of their own, in tensor memory
    source: str = ""

    @property
    def turns(self) -> bool:
        """Whether products and softmax take turns and nothing hides either."""
        return not (self.warp_level or self.ahead or self.groups > 1)

    @property
    def rows(self) -> int:
        """Queries of a block."""
        return ROWS * (self.groups if self.apart else 1)

    @property
    def columns(self) -> int:
        """Keys of a step: those of FA-2 are half as many."""
        return COLUMNS // 2 if self.warp_level else COLUMNS


_FA2 = Rule(
    "fa2",
    "a100_sxm_80gb",
    "fp16",
    128,
    230e12,
    1,
    False,
    True,
    source="arXiv 2307.08691, figure 5",
)
_FA3 = Rule(
    "fa3",
    "h100_sxm",
    "fp16",
    256,
    740e12,
    2,
    True,
    False,
    source="arXiv 2407.08608, abstract",
)
_FA4 = Rule(
    "fa4",
    "b200_sxm",
    "bf16",
    128,
    1613e12,
    2,
    False,
    False,
    0.25,
    False,
    True,
    True,
    source="T. Dao et al. 2025, abstract",
)
RULES = {
    rule.name: rule
    for rule in (
        _FA2,
        replace(
            _FA2,
            name="fa2-h100",
            on="h100_sxm",
            published=370e12,
            source="arXiv 2407.08608, figure 5",
        ),
        _FA3,
        replace(
            _FA3,
            name="fa3-fp8",
            dtype="fp8",
            published=1.3e15,
            source="arXiv 2407.08608, abstract: close to 1.3 PFLOP/s",
        ),
        _FA4,
    )
}
# A compiler's kernel on matrix instructions of warp groups, before it overlapped them.
_COMPILED = replace(_FA3, name="triton", groups=1, ahead=False)
_NEWEST = {"mma.sync": _FA2, "tcgen05.mma": _FA4}


def rule_of(software: str, device: Accelerator, warp_level: bool = False) -> Rule:
    """The generation that a class of software is of on a device.

    ``warp_level``: multiplied by ``mma.sync``, also where something newer is.
    """
    name = newest(device)
    if warp_level or name == "mma.sync":
        return _FA2
    return _COMPILED if software == "library" else _NEWEST.get(name, _FA3)


def settled(rule: Rule, rates: UnitRates, head_dim: int) -> Rule:
    """The rule with no exponential in software where its authors make none."""
    if rates.exp > _AMPLE_EXP * rates.fma or head_dim < _WIDE:
        return replace(rule, software_exp=0.0)
    return rule


@dataclass(frozen=True, slots=True)
class TileTime:
    """Cycles of one tile, and what keeps each unit busy in it."""

    cycles: float
    products: float  # tensor cores, with what their operands hold them up
    exp: float
    cores: float  # FP32 lanes
    work: TileWork

    @property
    def softmax(self) -> float:
        """Exponentials and the rest: a warp issues the one after the other."""
        return self.exp + self.cores


def overlap(times: Sequence[float], sharp: float) -> float:
    """Time of units that overlap: the longest, and more the nearer the others come."""
    most = max(times)
    return most * sum((t / most) ** sharp for t in times) ** (1 / sharp)


def tile_time(
    rule: Rule,
    rates: UnitRates,
    *,
    rows: int = ROWS,
    head_dim: int | None = None,
    value_dim: int | None = None,
    dtype: str = "",
    at_once: int = _GROUP_ROWS,
    backward: bool = False,
    held: float = 1.0,
) -> TileTime:
    """Cycles in which a unit takes ``rows`` queries past ``COLUMNS`` keys.

    - ``rule``: Rule; how the kernel overlaps.
    - ``head_dim``, ``value_dim``, ``dtype``: those of the rule where not given.
    - ``at_once``: int; rows of one matrix instruction: operands pass once for all.
    - ``backward``: bool; the backward pass instead.
    - ``held``: float; share of their pace at which products in 16 bits get their
      operands, where an engine's pages hold them.
    """
    head = rule.head_dim if head_dim is None else head_dim
    wide = head if value_dim is None else value_dim
    width = bytes_per_element(dtype or rule.dtype).si
    broad = rule.warp_level and max(head, wide) > _WIDE
    each = max(at_once, _GROUP_ROWS)
    if rule.warp_level:
        each = _WIDE_ROWS if broad else _WARP_ROWS
    work = tile_work(
        rates,
        rows=rows,
        columns=COLUMNS,
        head_dim=head,
        value_dim=wide,
        width=width,
        warp_level=rule.warp_level,
        software_exp=rule.software_exp,
        groups=-(-rows // each),
        eight_bits=width < 2,
        again=COLUMNS // rule.columns if head > _NARROW else 1,
        pairs=rule.apart and rates.exp <= _AMPLE_EXP * rates.fma,
        shared_operand=rule.pair,
    )
    cores = work.cores + (work.rescale if rule.rescale and not backward else 0.0)
    # What serving adds is by elements, not by bytes.
    slower = 1 + (1 / held - 1) * (2 / min(2.0, width))
    fed, products = work.shared * slower, (work.scores + work.values) * slower
    if backward:
        fed, products = BACKWARD * fed, BACKWARD * products
        scale = work.instructions / rates.fma * rows * COLUMNS
        cores += _BACKWARD_OPS * scale
        # P and dS are written and read, or dS alone beside tensor memory; dQ as well.
        passes = 1 if rule.apart else 4
        fed += rows * (passes * COLUMNS * width + 8 * head) / rates.shared
        added = rows * head * 4 / rates.l2 / (2 if rule.pair else 1)
        moved = [fed + added] if rule.warp_level else [fed, added]
        units = [products, work.exp + cores, *moved]
    elif rule.warp_level:
        units = [products, work.exp + cores, fed]
    else:  # operands are fetched while earlier ones multiply
        products = max(products, fed)
        units = [products, work.exp + cores]
    name = "attention_apart" if rule.apart else "attention_overlap"
    # Turns of one group add up: nothing is hidden.
    cycles = sum(units) if rule.turns else overlap(units, hardware.efficiency(name))
    return TileTime(cycles, products, work.exp, cores, work)

"""FlashAttention 2, 3 and 4 as one table, on their devices and on others.

A generation is a row of ``rules``; what it reaches is ``attention_time`` for a long
prompt, by the same tile, waves and power. Beside it stands the same tile as a schedule
without a flaw (``pipeline``): what the stages and their order allow, which no kernel
reaches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole
from stacklib.roofline.bound import gemm

from .attention_time import Attention, plan, predict, rows_at_once
from .pipeline import Stage, Timeline, pipeline
from .rates import UnitRates, rates_of
from .rules import COLUMNS, ROWS, RULES, Rule, TileTime, settled, tile_time

TILES = 24  # of a run: fill and drain are a few per cent of it
LONG = 16384  # tokens of the prompt that a rate is told of
_TOKENS = 4 * LONG  # of all prompts: the last wave is a small part of the time
_HIDDEN = 2048  # numbers of all heads, as the papers choose


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generation reaches on a device, and why no more."""

    rule: Rule
    device: str
    timeline: Timeline  # without a flaw
    pace: float  # cycles for one tile of each group
    overlapped: float  # share of the cycles in which tensor cores multiply
    utilisation: float  # share of the dense peak
    binds: str  # the unit with most to do, or ``dependence``
    assumed: tuple[str, ...]

    @property
    def ceiling(self) -> float:
        """What clock, waves and first loads leave of that share."""
        return self.utilisation / self.overlapped

    @property
    def flawless(self) -> float:
        """The share of ``overlapped`` by the timeline."""
        tiles = TILES * self.rule.groups
        rate = rates_of(self.device, self.rule.dtype).tensor
        return tiles * _useful(self.rule) / rate / self.timeline.time

    @property
    def published(self) -> float:
        """Published rate over the peak of the device that it was measured on."""
        return self.rule.published / rates_of(self.rule.on, self.rule.dtype).peak

    @property
    def miss(self) -> float:
        """Points between them: ours less the published."""
        return 100 * (self.utilisation - self.published)


def _useful(rule: Rule) -> float:
    """FLOP of a tile."""
    return 4.0 * ROWS * COLUMNS * rule.head_dim


def stages_of(rule: Rule, tile: TileTime) -> tuple[Stage, ...]:
    """A tile of each group as stages: scores, maximum and exponentials, values.

    A group's softmax holds the exponential unit for what it does there and the FP32
    lanes for what they do; its parts follow one another, those of groups interleave.
    """
    stages, half = [], tile.products / 2
    # Of the instructions of a score, one finds the maximum of its row.
    first = tile.work.cores / 3.5
    for group in range(rule.groups):
        s, e, c, p = (f"{part} {group}" for part in ("QK", "exp", "FP32", "PV"))
        back = ((p, 2 if rule.ahead else 1),)
        stages += [
            Stage(s, half, "tensor", back),
            # The maximum of a row must be known before its first exponential.
            Stage(f"max {group}", first, "FP32", (s,)),
            Stage(e, tile.exp, "exp", (f"max {group}",)),
            Stage(c, tile.cores - first, "FP32", (f"max {group}",)),
            Stage(p, half, "tensor", (e, c)),
        ]
    return tuple(stages)


def generation(
    name: str,
    on: str | None = None,
    *,
    head_dim: int | None = None,
    causal: bool = False,
    tokens: int = LONG,
    rates: UnitRates | None = None,
) -> Generation:
    """A generation of FlashAttention on its own device, or on another.

    Parameters
    ----------
    name : str
        ``fa2`` (A100), ``fa2-h100``, ``fa3``, ``fa3-fp8`` or ``fa4``.
    on : str, optional
        Another device.
    head_dim : int, optional
        Another head size than that of the headline.
    causal : bool
        Under a causal mask.
    tokens : int
        Length of the prompt.
    rates : UnitRates, optional
        Other unit rates than the device's own, to ask what they would be worth.

    Raises
    ------
    UnknownName
        For another generation or device.
    ValueError
        For a head size or a length that is not a whole number from 1 on.

    Examples
    --------
    >>> abs(generation("fa3").miss) < 10
    True
    """
    rule = RULES[resolve(name, RULES, "generation")]
    whole(1, head_dim=head_dim or rule.head_dim, tokens=tokens)
    rule = replace(rule, head_dim=head_dim or rule.head_dim)
    rates = rates or rates_of(on or rule.on, rule.dtype)
    return run(settled(rule, rates, rule.head_dim), on, rates, causal, tokens)


def run(
    rule: Rule,
    on: str | None = None,
    rates: UnitRates | None = None,
    causal: bool = False,
    tokens: int = LONG,
) -> Generation:
    """A row of the table, or one that was edited, on a device."""
    device = on or rule.on
    rates = rates or rates_of(device, rule.dtype)
    _, at_once = rows_at_once(hardware.get(device))
    block = tile_time(rule, rates, rows=rule.rows, at_once=at_once)
    each = block.cycles * ROWS / rule.rows
    busy = _useful(rule) / rates.tensor / each
    tile = tile_time(rule, rates, at_once=at_once)
    stages = stages_of(rule, tile)
    units = {"tensor": tile.products, "exp": tile.exp, "FP32": tile.cores}
    alone = rule.groups == 1 and not rule.ahead
    return Generation(
        rule,
        rates.device,
        pipeline(stages, TILES),
        each * rule.groups,
        busy,
        _reached(rule, device, rates, busy, causal, tokens),
        "dependence" if alone else max(units, key=lambda unit: units[unit]),
        rates.assumed,
    )


def _reached(
    rule: Rule, on: str, rates: UnitRates, busy: float, causal: bool, tokens: int
) -> float:
    """Share of the peak; of ``busy`` alone where units or L2 are not known."""
    device = hardware.get(on)
    if device.fields["compute_units"] is None:
        return busy * hardware.efficiency("gemm_issue_other")
    if device.fields["l2_capacity"] is None:
        return busy * hardware.efficiency(gemm.chip_of(device, rule.dtype).issue)
    heads = max(1, _HIDDEN // rule.head_dim)
    shape = (max(1, _TOKENS // tokens), heads, heads, tokens, tokens, rule.head_dim)
    work = Attention(*shape, rule.dtype, causal)
    found = predict(plan(work, on, "tuned", by=rule, rates=rates))
    return work.flops / found.time / rates.peak


@dataclass(frozen=True, slots=True)
class Trick:
    """What one trick is worth on a device: the rate with it over that without."""

    name: str
    gain: float
    binds: str  # without it


def tricks(rule: Rule, on: str, rates: UnitRates | None = None) -> tuple[Trick, ...]:
    """Each trick of FA-4 taken away in turn."""
    whole_ = run(rule, on, rates).utilisation
    without = {
        "two tiles of queries": replace(rule, groups=1),
        "exponentials in software": replace(rule, software_exp=0.0),
        "rescaling only where needed": replace(rule, rescale=True),
        "operands shared by two units": replace(rule, pair=False),
    }
    found = {name: run(other, on, rates) for name, other in without.items()}
    return tuple(
        Trick(name, whole_ / less.utilisation, less.binds)
        for name, less in found.items()
    )


@dataclass(frozen=True, slots=True)
class Next:
    """What the table says of a device that nobody has measured."""

    device: str
    dtype: str
    exp: float  # exponentials a cycle and unit that were taken
    utilisation: float  # with no limit of power where the board's is unknown
    low: float  # were it as short of power as the B200 is
    rate: float  # FLOP/s at the former
    software_exp: float  # share of the exponentials made in software
    binds: str
    tricks: tuple[Trick, ...]
    assumed: tuple[str, ...]


def next_generation(
    on: str, dtype: str = "bf16", *, exp_times: float = 1.0, head_dim: int = 128
) -> Next:
    """FA-4's rule on another device.

    ``exp_times``: how many times the exponentials of today's table a unit makes.
    """
    rates = rates_of(on, dtype)
    rates = replace(rates, exp=rates.exp * exp_times)
    rule = replace(RULES["fa4"], name="next", dtype=dtype, head_dim=head_dim)
    rule = settled(rule, rates, head_dim)
    found = run(rule, on, rates)
    assumed, low = rates.assumed, found.utilisation
    if hardware.get(on).fields["tdp"] is None:
        assumed = (*assumed, "power: no limit known")
        low *= generation("fa4").ceiling
    return Next(
        rates.device,
        dtype,
        rates.exp,
        found.utilisation,
        low,
        found.utilisation * rates.peak,
        rule.software_exp,
        found.binds,
        tricks(rule, on, rates),
        assumed,
    )

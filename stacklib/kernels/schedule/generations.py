"""FlashAttention 2, 3 and 4 as one table: unit rates of a device, one rule of overlap.

A generation is a row: whether softmax and products take turns, how many tiles of
queries are under way, which exponentials are made by multiply-adds. Its tile's work
comes from ``rates.tile_work`` and runs through ``pipeline``; nothing is fitted here.
The tensor cores' own ceiling, issue and power, is that of matrix products (family A).

FA-2: T. Dao 2023, arXiv 2307.08691, Algorithm 1, figure 5 (A100, 230 TFLOP/s); its
warp-level products on H100, arXiv 2407.08608, figure 5 (370 TFLOP/s). FA-3: J. Shah et
al. 2024, arXiv 2407.08608, sections 3.1 to 3.3, 740 TFLOP/s FP16 and 1.3 PFLOP/s FP8 in
the abstract. FA-4: T. Dao et al. 2025, 1,613 TFLOP/s BF16 on B200; two tiles of queries
in tensor memory, 10 to 25 % of exponentials in software, rescaling only where a maximum
has grown much, operands of two units shared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.quantity import bytes_per_element, resolve
from stacklib.roofline.bound import gemm

from .pipeline import Stage, Timeline, pipeline, steady_state
from .rates import TileWork, UnitRates, rates_of, tile_work

TILES = 24  # of a run: fill and drain are a few per cent of it


@dataclass(frozen=True, slots=True)
class Rule:
    """How a generation overlaps: a row of the table."""

    name: str
    on: str  # the device of its headline
    dtype: str
    head_dim: int  # and its shape
    published: float  # FLOP/s
    groups: int  # tiles of queries under way on a unit
    ahead: bool  # scores of the next tile before the values of this one
    warp_level: bool  # by mma.sync
    software_exp: float = 0.0
    rescale: bool = True  # the running sum is corrected for every tile
    pair: bool = False  # two units share an operand in shared memory
    source: str = ""


RULES = {
    rule.name: rule
    for rule in (
        Rule(
            "fa2",
            "a100_sxm_80gb",
            "fp16",
            128,
            230e12,
            1,
            False,
            True,
            source="arXiv 2307.08691, figure 5",
        ),
        Rule(
            "fa2-h100",
            "h100_sxm",
            "fp16",
            128,
            370e12,
            1,
            False,
            True,
            source="arXiv 2407.08608, figure 5",
        ),
        Rule(
            "fa3",
            "h100_sxm",
            "fp16",
            256,
            740e12,
            2,
            True,
            False,
            source="arXiv 2407.08608, abstract",
        ),
        Rule(
            "fa3-fp8",
            "h100_sxm",
            "fp8",
            256,
            1.3e15,
            2,
            True,
            False,
            source="arXiv 2407.08608, abstract: close to 1.3 PFLOP/s",
        ),
        Rule(
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
            source="T. Dao et al. 2025, abstract",
        ),
    )
}
ROWS, COLUMNS = 128, 128


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generation reaches on a device, and why no more."""

    rule: Rule
    device: str
    timeline: Timeline
    pace: float  # cycles for one tile of each group, in closed form
    overlapped: float  # share of the cycles in which tensor cores multiply
    ceiling: float  # share of the peak that products alone sustain at that share
    binds: str  # the unit with most to do, or ``dependence``
    assumed: tuple[str, ...]

    @property
    def utilisation(self) -> float:
        """Share of the dense peak."""
        return self.overlapped * self.ceiling

    @property
    def published(self) -> float:
        """Published rate over the peak of the device that it was measured on."""
        return self.rule.published / rates_of(self.rule.on, self.rule.dtype).peak

    @property
    def miss(self) -> float:
        """Points between them: ours less the published."""
        return 100 * (self.utilisation - self.published)


def stages_of(rule: Rule, work: TileWork) -> tuple[Stage, ...]:
    """A tile of each group as stages: scores, maximum and exponentials, values.

    A group's softmax holds the exponential unit for what it does there and the FP32
    lanes for what they do; its parts follow one another, those of groups interleave.
    """
    stages = []
    for group in range(rule.groups):
        s, e, c, p = (f"{part} {group}" for part in ("QK", "exp", "FP32", "PV"))
        back = ((p, 2 if rule.ahead else 1),)
        others = work.cores + (work.rescale if rule.rescale else 0.0)
        stages += [
            Stage(s, work.scores, "tensor", back),
            # The maximum of a row must be known before its first exponential.
            Stage(f"max {group}", work.cores / 3.5, "FP32", (s,)),
            Stage(e, work.exp, "exp", (f"max {group}",)),
            Stage(c, others - work.cores / 3.5, "FP32", (f"max {group}",)),
            Stage(p, work.values, "tensor", (e, c)),
        ]
    return tuple(stages)


def _work(rule: Rule, rates: UnitRates) -> TileWork:
    width = bytes_per_element(rule.dtype).si
    work = tile_work(
        rates,
        rows=ROWS,
        columns=COLUMNS,
        head_dim=rule.head_dim,
        width=width / 2 if rule.pair else width,
        warp_level=rule.warp_level,
        software_exp=rule.software_exp,
        eight_bits=width < 2,
        groups=4 if rule.warp_level else 1,
    )
    # Operands that come slower than they are multiplied hold the tensor cores up.
    late = max(1.0, work.shared / (work.scores + work.values))
    return replace(work, scores=work.scores * late, values=work.values * late)


def generation(
    name: str, on: str | None = None, *, rates: UnitRates | None = None
) -> Generation:
    """A generation of FlashAttention on its own device, or on another.

    Parameters
    ----------
    name : str
        ``fa2`` (A100), ``fa2-h100``, ``fa3``, ``fa3-fp8`` or ``fa4``.
    on : str, optional
        Another device.
    rates : UnitRates, optional
        Other unit rates than the device's own, to ask what they would be worth.

    Raises
    ------
    UnknownName
        For another generation or device.

    Examples
    --------
    >>> abs(generation("fa4").miss) < 10
    True
    """
    return run(RULES[resolve(name, RULES, "generation")], on, rates)


def run(
    rule: Rule, on: str | None = None, rates: UnitRates | None = None
) -> Generation:
    """A row of the table, or one that was edited, on a device."""
    device = on or rule.on
    rates = rates or rates_of(device, rule.dtype)
    work = _work(rule, rates)
    stages = stages_of(rule, work)
    timeline = pipeline(stages, TILES)
    pace = steady_state(stages)
    useful = rule.groups * 4 * ROWS * COLUMNS * rule.head_dim / rates.tensor
    overlapped = useful * TILES / timeline.time
    units = dict.fromkeys(timeline.units, 0.0)
    for stage in stages:
        units[stage.unit] += stage.time
    most = max(units, key=lambda unit: units[unit])
    binds = most if units[most] > 0.98 * pace else "dependence"
    return Generation(
        rule,
        rates.device,
        timeline,
        pace,
        overlapped,
        _ceiling(device, rule.dtype, overlapped),
        binds,
        rates.assumed,
    )


def _ceiling(device: str, dtype: str, share: float) -> float:
    """What products sustain of their peak when tensor cores are busy for a share.

    Without a limit of power where the board's is unknown.
    """
    found = hardware.get(device)
    if found.fields["compute_units"] is None:
        return float(hardware.efficiency("gemm_issue_other"))
    chip = gemm.chip_of(found, dtype)
    issued = float(hardware.efficiency(chip.issue))
    return issued * float(gemm.power_share(chip, issued * share))


@dataclass(frozen=True, slots=True)
class Trick:
    """What one trick is worth on a device: the rate with it over that without."""

    name: str
    gain: float
    binds: str  # without it


def tricks(rule: Rule, on: str, rates: UnitRates | None = None) -> tuple[Trick, ...]:
    """Each trick of FA-4 taken away in turn."""
    whole = run(rule, on, rates).utilisation
    without = {
        "two tiles of queries": replace(rule, groups=1),
        "exponentials in software": replace(rule, software_exp=0.0),
        "rescaling only where needed": replace(rule, rescale=True),
        "operands shared by two units": replace(rule, pair=False),
    }
    found = {name: run(other, on, rates) for name, other in without.items()}
    return tuple(
        Trick(name, whole / less.utilisation, less.binds)
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
    software_exp: float  # share of the exponentials that is best made in software
    binds: str
    tricks: tuple[Trick, ...]
    assumed: tuple[str, ...]


def next_generation(
    on: str, dtype: str = "bf16", *, exp_times: float = 1.0, head_dim: int = 128
) -> Next:
    """FA-4's rule on another device, with the best share of software exponentials.

    ``exp_times``: how many times the exponentials of today's table a unit makes.
    """
    rates = rates_of(on, dtype)
    rates = replace(rates, exp=rates.exp * exp_times)
    rule = replace(RULES["fa4"], name="next", dtype=dtype, head_dim=head_dim)
    shares = [replace(rule, software_exp=i / 20) for i in range(11)]
    best = max(shares, key=lambda r: run(r, on, rates).overlapped)
    found = run(best, on, rates)
    assumed = rates.assumed
    if hardware.get(on).fields["tdp"] is None:
        assumed = (*assumed, "power: no limit known")
    like = generation("fa4")
    issued = float(hardware.efficiency("gemm_issue_nvidia"))
    low = found.utilisation
    if hardware.get(on).fields["tdp"] is None:
        low *= like.ceiling / issued
    return Next(
        rates.device,
        dtype,
        rates.exp,
        found.utilisation,
        low,
        found.utilisation * rates.peak,
        best.software_exp,
        found.binds,
        tricks(best, on, rates),
        assumed,
    )

"""Joules of a decode step: every bit from its stack of DRAM to a multiplier.

Two accounts. The *circuit* account adds arrays, wires and pins from circuit papers, the
least that moving the data takes. The *board* account uses what a regression on the
power of an A100 found for each level, and tells the data path from the control around
it. Power that flows whatever happens comes on top in both.

Energies are joules a bit, totals joules a step over all chips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, stack_fact
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, assumed
from stacklib.quantity import constant as constant_of
from stacklib.quantity.names import UnknownName
from stacklib.roofline import decode_step

from ..tiers.parts import constant

ACCOUNTS = ("circuit", "board")
MOVES = ("memory", "wire", "array")  # kinds of stage that only move or hold a bit
# Whose energy a bit of another generation is taken to be; of any other kind, HBM2's.
LIKE = {"LPDDR": "lpddr5x", "GDDR": "gddr6", "DDR": "ddr4_3200"}


def energy_of(moved: Any, per_bit: Any) -> Any:
    """Joules of moving so many bytes: eight bits each, times joules a bit.

    ``moved``: bytes; of bytes a second the result is watts.
    """
    if isinstance(moved, Quantity):
        return moved * constant_of("byte") * per_bit
    return 8 * moved * per_bit


def memory_energy(moved: Quantity, per_bit: Quantity) -> Quantity:
    """The same as a named quantity."""
    return energy_of(moved, per_bit).named("energy of reading memory")


# -- wires ---------------------------------------------------------------------


def wire_length(area: Any) -> Any:
    """Mean way across a square die, from a controller at an edge to an SM anywhere.

    Stacks stand along two opposite sides and addresses are hashed over all of them,
    so any stack feeds any SM. Along the sides' normal the mean is half a side; along
    the sides it is the mean distance of two points of a line, a third.

    ``area``: of the die, in m2.
    """
    side = area**0.5
    way = side / 2 + side / 3
    return way.named("mean way across the die") if isinstance(way, Quantity) else way


def wire_energy() -> Quantity:
    """Joules a bit and metre at today's nodes: 40 nm, scaled as projected to 10 nm."""
    shrink = constant("wire_transition_10nm") / constant("wire_transition_40nm")
    return (constant("wire_40nm") * shrink).named("wire, energy a bit and length")


# -- the path of a bit ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing that happens to every bit that is read."""

    name: str  # what the reader sees
    kind: str  # ``memory``, ``wire``, ``array`` or ``control``
    times: int  # how often a bit goes through it
    energy: Quantity  # joules a bit, each time

    @property
    def per_bit(self) -> Quantity:
        """Joules a bit, all times."""
        return (self.energy * self.times).named(self.name)


def _array(name: str) -> Quantity:
    bits = assumed(
        64, "bit", "bits of an access", why="The energies of the paper are of one word."
    )
    return constant(name) / bits


def die_area(device: Accelerator) -> Quantity:
    """Area of one die; the field of the scanner where it is not published."""
    known = device.fields["die_area"]
    if known is not None:
        return known.across(1)
    field = stack_fact("reticle_long") * stack_fact("reticle_short")
    return field.to("mm2").named("largest die that can be exposed")


def stack_energy(device: Accelerator) -> Quantity:
    """Joules of a bit out of a device's memory: its generation's published figure.

    Where a generation has none, that of the nearest which has one.
    """
    kind = device.memory_type
    try:
        own = hardware.memory(kind).fields["energy"]
    except UnknownName:
        own = None
    if own is not None:
        return own
    like = next((key for start, key in LIKE.items() if kind.startswith(start)), "hbm2")
    known = hardware.memory(like)
    return known.energy.named(f"{kind}, energy a bit, taken as {known.short}'s")


def circuit_path(device: Accelerator) -> tuple[Stage, ...]:
    """Stages of a bit that is read, each from a circuit paper.

    A bit leaves the stack, is written to the L2 and read again, crosses the die, is
    written to shared memory and read, written to a register and read.
    """
    wires = (wire_length(die_area(device)) * wire_energy()).named(
        "wires across the die"
    )
    return (
        Stage("HBM stack", "memory", 1, stack_energy(device)),
        Stage("wires across the die", "wire", 1, wires),
        Stage("L2", "array", 2, _array("sram_1mb")),
        Stage("shared memory", "array", 2, _array("sram_32kb")),
        Stage("registers", "array", 2, _array("sram_8kb")),
    )


def board_path(device: Accelerator) -> tuple[Stage, ...]:
    """Stages of the same bit as a regression on an A100's board power found them.

    Each level is what it costs above the level before. *Control* is what the data
    path does not explain: addresses, tags, instructions, clocks.
    """
    return tuple(
        Stage(f"{words}, {part}", kind, 1, constant(f"a100_{level}_{key}"))
        for level, words in (("hbm", "HBM"), ("l2", "L2"), ("l1", "L1"))
        for part, key, kind in (
            ("data path", "data", "memory" if level == "hbm" else "array"),
            ("control", "control", "control"),
        )
    )


PATHS = {"circuit": circuit_path, "board": board_path}


def operation_energy(device: Accelerator, account: str) -> Quantity:
    """Joules of one FLOP."""
    # By circuit: half a bf16 multiply and an fp32 add. By board: what was fitted to
    # published runs, operands and control included.
    if account == "circuit":
        both = constant_of("multiply_add")
        pair = constant("multiply_bf16") + constant("add_fp32")
        return (pair / both).named("energy of an operation")
    factor = hardware.microarchitecture(device).tensor_energy
    if not factor:
        raise hardware.UnknownSpec(f"{device.key}: the energy of its tensor operations")
    return hardware.efficiency_quantity(factor).named("energy of an operation")


def constant_power(device: Accelerator, account: str) -> Quantity:
    """Watts of one chip that holds a model and does nothing."""
    # Eight small dies of somebody else would count as eight of NVIDIA's.
    if device.vendor != "NVIDIA":
        raise hardware.UnknownSpec(
            f"{device.key}: its power when idle; the figures known are of NVIDIA's dies"
        )
    dies = device.fields["dies"] or assumed(1, label="dies", why="no source names more")
    if account == "board":
        return (constant("a100_constant") * dies).named("constant power")
    # An idle H200 and the clocks of a loaded one, by the die: nobody has published an
    # idle B200.
    both = constant("h200_idle") + constant("context_power")
    return (both * dies).named("constant power")


# -- a step --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepEnergy:
    """Joules of one decode step over all chips, part by part."""

    parts: dict[str, Quantity]  # stage to joules
    kinds: dict[str, str]  # kind of each part
    time: Quantity  # of the step
    chips: int  # how many share it

    @property
    def total(self) -> Quantity:
        """All of it."""
        first, *rest = self.parts.values()
        return sum(rest, first).named("energy of the step")

    @property
    def power(self) -> Quantity:
        """Watts of one chip through the step."""
        return (self.total / self.time / self.chips).named("power of a chip")

    def share(self, *kinds: str) -> Quantity:
        """Share of the total that goes to these kinds of part."""
        mine = [q for n, q in self.parts.items() if self.kinds[n] in kinds]
        if not mine:
            known = ", ".join(sorted(set(self.kinds.values())))
            raise ValueError(f"no part of kind {', '.join(kinds)}; there are {known}")
        return (sum(mine[1:], mine[0]) / self.total).named(f"share of {kinds[0]}")

    def rows(self) -> Iterator[tuple[str, str, Quantity, Quantity]]:
        """Part, kind, joules and share, in the order a bit meets them."""
        for name, joules in self.parts.items():
            yield name, self.kinds[name], joules, joules / self.total


def decode_energy(
    model: str | LanguageModel,
    *,
    on: str,
    account: str = "circuit",
    dtype: str = "bf16",
    tp: int = 1,
    batch: int = 1,
    context: int = 4096,
) -> StepEnergy:
    """Energy of one decode step, by closed form: bytes times joules a bit.

    Every byte that the step moves goes through all stages; the arithmetic is counted
    once for each sequence of the batch. The time is the least time of the step, so
    the power is that of a chip at its full bandwidth.

    Parameters
    ----------
    account : str
        ``circuit`` or ``board``.

    Raises
    ------
    ValueError
        For another account, or sizes that make no sense.
    Infeasible
        Where the model does not fit.
    UnknownName, UnknownSpec
        For unknown names, another vendor's chip, or an architecture without a tensor
        energy.

    Examples
    --------
    >>> step = decode_energy("llama-3-70b", on="h100-sxm", tp=2)
    >>> step.parts["HBM stack"].text(), step.power.text()
    ('4.4 J', '291 W')
    """
    if account not in ACCOUNTS:
        raise ValueError(f"account {account!r}: one of {', '.join(ACCOUNTS)}")
    device = hardware.get(on)
    step = decode_step(
        model, on=device, dtype=dtype, tp=tp, batch=batch, context=context
    )
    bits = step.bytes.to("bit")
    stages = PATHS[account](device)
    parts = {s.name: (bits * s.per_bit).named(s.name) for s in stages}
    kinds = {s.name: s.kind for s in stages}
    work = step.operations * operation_energy(device, account)
    parts["arithmetic"], kinds["arithmetic"] = work.named("arithmetic"), "arithmetic"
    idle = constant_power(device, account) * tp * step.time
    parts["constant power"] = idle.named("constant power")
    kinds["constant power"] = "constant"
    return StepEnergy(parts, kinds, step.time, tp)

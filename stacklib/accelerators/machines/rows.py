"""Machines as they are rented or sold, and nine bets, each a row."""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Machine:
    """Chips of one kind, and the format in which they keep a model's weights.

    - ``on``: a device's key
    - ``chips``: of the machine; None: the fewest that hold the model
    - ``dtype``: format of the weights; None: as the model has them, or bf16
    - ``sold``: as what it is sold
    """

    name: str
    on: str
    chips: int | None = None
    dtype: str | None = None
    sold: str = ""

    def __post_init__(self) -> None:
        if self.chips is not None:
            whole(chips=self.chips)

    @property
    def device(self) -> Accelerator:
        """Its chip."""
        return hardware.get(self.on)

    @property
    def in_sram(self) -> bool:
        """Whether weights lie on the chips, and a layer works where it lies."""
        return "SRAM" in self.device.memory_type


# The eight of section 5.1. Weights are kept in 16 bits where the chip multiplies them
# and they fit; a Groq 3 publishes a rate for FP8 alone, and a laptop has no room.
MACHINES = {
    row.name: row
    for row in (
        Machine("H100", "h100_sxm", 8, "bf16", "a server of eight"),
        Machine("B200", "b200_sxm", 8, "bf16", "a server of eight"),
        Machine("MI300X", "mi300x", 8, "bf16", "a server of eight"),
        Machine("TPU v7", "tpu_v7", 8, "bf16", "a slice of 2 x 2 x 2"),
        Machine("Trainium2", "trainium2", 16, "bf16", "trn2.48xlarge"),
        Machine("Groq 3 LPU", "groq3_lp30", 256, "e4m3fn", "a rack"),
        Machine("WSE-3", "wse3", 4, "fp16", "four CS-3"),
        Machine("M4 Max", "m4_max", 1, "int8", "a laptop"),
    )
}


@dataclass(frozen=True, slots=True)
class Bet:
    """What a maker thinks limits you, and what was given up for it.

    - ``on``: the device that carries the bet
    - ``dtype``: format whose dense rate is its roof
    """

    maker: str
    on: str
    dtype: str
    bet: str
    gives_up: str


BETS = (
    Bet("Cerebras", "wse3", "fp16", "no wire leaves the wafer", "capacity"),
    Bet("Groq", "groq_lpu_v1", "fp16", "a compiler knows every cycle", "capacity"),
    Bet("SambaNova", "sn40l", "bf16", "three memories, one dataflow", "bandwidth"),
    Bet(
        "Tenstorrent",
        "tt_blackhole_p150",
        "fp8",
        "cheap memory, open code",
        "bandwidth",
    ),
    Bet("Etched", "sohu", "fp8", "transformers stay", "every other model"),
    Bet("Intel Gaudi", "gaudi3", "bf16", "Ethernet is the link", "the ecosystem"),
    Bet("Apple", "m4_max", "fp16", "one memory for all units", "bandwidth"),
    Bet(
        "Qualcomm", "hexagon_x_elite", "int8", "three kinds of unit, few watts", "size"
    ),
    Bet("Google Coral", "coral_edge_tpu", "int8", "two watts", "all but small models"),
)


def machine(
    on: str | Machine, chips: int | None = None, dtype: str | None = None
) -> Machine:
    """A row of ``MACHINES`` by its name, or chips of any device.

    - raises ``UnknownName`` for a name that neither has
    """
    if isinstance(on, Machine):
        return on
    if chips is None and dtype is None and isinstance(on, str):
        folded = {_plain(name): row for name, row in MACHINES.items()}
        if row := folded.get(_plain(on)):
            return row
    device = hardware.get(on)
    return Machine(device.short, device.key, chips, dtype)


def bet(maker: str) -> Bet:
    """A row of ``BETS`` by its maker; ``UnknownName`` for any other."""
    known = {row.maker: row for row in BETS}
    return known[resolve(maker, known, "maker", exact=True)]


def _plain(name: str) -> str:
    """A name without what ``hardware.get`` ignores as well."""
    return name.lower().replace(" ", "").replace("-", "").replace("_", "")

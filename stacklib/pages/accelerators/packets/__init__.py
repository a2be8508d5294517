"""Section 5.6: who decides what runs together."""

from __future__ import annotations

from typing import Any

from stacklib import accelerators, hardware, models, serving
from stacklib.accelerators.packets import chains, organisations
from stacklib.accelerators.packets.organisations import ORGANISATIONS, TILE, unrolled
from stacklib.accelerators.packets.pack import fewest
from stacklib.accelerators.packets.slots import Row
from stacklib.accelerators.packets.verify import WrongPacket, verify
from stacklib.quantity import Quantity, ceil, chosen, counted, counting, quoted

PHONE, SMALL, FORMAT = "hexagon_x_elite", "llama-3.1-8b", "int8"
LAYERS, WIDE, SIDE = 10, 64, 512  # a chain over a picture, a byte a number
GOOD = accelerators.pack(TILE).packets
TWO_STORES = (*TILE, Row("store", "store", ("p",), ("l2:p",)))
FROM_L2 = (*TILE[:2], TILE[2]._replace(reads=("l2:x", "tcm:w")), *TILE[3:])
# What is put in the place of a packet, and of which program.
PLANTED: dict[str, tuple[Any, dict[int, dict[int, int]]]] = {
    "the product a cycle earlier": (TILE, {1: {0: 1, 3: 2}, 2: {0: 3}}),
    "a second store beside the first": (TWO_STORES, {5: {0: 6, 1: 9, 2: 8}}),
    "the product in slot zero": (TILE, {2: {0: 2, 1: 3}}),
    "a slot that is not there": (TILE, {3: {4: 4}}),
    "the product reads the L2 cache": (FROM_L2, {}),
}


def instructions() -> Quantity:
    """Instructions of the tile."""
    return counted(len, TILE, label="instructions of a tile")


def slots() -> Quantity:
    """Slots of a packet."""
    return quoted("hexagon.slots")


def by_slots() -> Quantity:
    """Packets that have as many slots as the tile has instructions."""
    return ceil(instructions() / slots()).named("packets by slots alone")


def packets(tiles: int = 1, machine: str = "hexagon") -> Quantity:
    """Packets of so many tiles, as the packer has them."""
    given = chosen(tiles, label="tiles")
    return counted(packed, given, machine, label=f"packets of {tiles} tiles, {machine}")


def packed(tiles: int, machine: str) -> int:
    """Packets of so many tiles on a machine."""
    return accelerators.pack(unrolled(tiles), machine).cycles


def bound(tiles: int = 1) -> Quantity:
    """Packets that no packing of the tiles can pass."""
    given = chosen(tiles, label="tiles")
    return counted(bounded, given, label=f"bound of {tiles} tiles")


def bounded(tiles: int) -> int:
    """The packer's lower bound for so many tiles."""
    return accelerators.pack(unrolled(tiles)).bound


def least() -> Quantity:
    """The fewest packets of one tile, by trying them all."""
    return counted(searched, label="fewest packets, all tried")


def searched() -> int:
    """Fewest packets of the tile."""
    return fewest(accelerators.pack(TILE))


def per_tile(tiles: int) -> Quantity:
    """Packets for each of so many tiles."""
    count = chosen(tiles, label="tiles")
    return (packets(tiles) / count).named(f"packets per tile, {tiles} at once")


def loads() -> Quantity:
    """Loads of a tile, of which a packet holds one."""
    return counted(loading, label="loads of a tile")


def loading() -> int:
    """Rows of the tile that load."""
    return sum(row.unit == "load" for row in TILE)


# -- five organisations ----------------------------------------------------------------


def ran(name: str, what: str) -> Quantity:
    """Cycles of the tile in one organisation, or what it fetched."""
    found = counted(organisations.organise, name, take=what, label=f"{what}, {name}")
    right = organisations.organise("nvidia").state["l2:y"]
    if organisations.organise(name).state["l2:y"] != right:
        raise ValueError(f"{name} gives another result")
    return found


def code(name: str) -> Quantity | None:
    """Bits of the code of a tile, where the width of an instruction is published."""
    width = {"nvidia": "volta.instruction", "tpu": "tpu.bundle"}.get(name)
    if width is not None:
        return (ran(name, "issued") * quoted(width)).named(f"code, {name}")
    if name == "hexagon":
        return (instructions() * quoted("hexagon.instruction")).named(f"code, {name}")
    return None


def table() -> list[dict[str, Any]]:
    """A row an organisation."""
    return [
        {
            "chips": one.maker,
            "streams": one.streams,
            "together": one.together,
            "waits": one.waits,
            "fetched": ran(name, "issued"),
            "cycles": ran(name, "cycles"),
            "code": code(name),
        }
        for name, one in ORGANISATIONS.items()
    ]


def faults() -> list[dict[str, Any]]:
    """Planted faults, and what the verifier says of each."""
    rows = []
    for what, (program, changes) in PLANTED.items():
        wrong = [changes.get(cycle, packet) for cycle, packet in enumerate(GOOD)]
        try:
            verify(program, wrong)
        except WrongPacket as fault:
            told = str(fault).partition("\n")[0]
            rows.append({"planted": what, "the verifier says": told})
    return rows


# -- memories and the token ------------------------------------------------------------


def tcm() -> Quantity:
    """The memory that all three units reach."""
    return quoted("hexagon.tcm")


def chain(what: str, layers: int = LAYERS) -> Quantity:
    """Bytes of a chain of layers over a picture: layer by layer, or by tiles."""
    given = {
        "layers": chosen(layers, label="layers"),
        "wide": chosen(WIDE, label="channels"),
        "side": chosen(SIDE, label="pixels of a side"),
    }
    room = tcm()
    return counted(
        chained, *given.values(), room, what, unit="B", label=f"DRAM, {what}"
    )


def chained(layers: int, wide: int, side: int, room: Quantity, what: str) -> int:
    """Bytes of DRAM of such a chain, a byte a number."""
    widths = [wide] * (int(layers) + 1)
    found = chains.traffic(int(side) ** 2, widths, room=int(room.si), size=1)
    return int(getattr(found, what))


@counting("pixels of a chain that was run")
def run_pixels() -> int:
    """Pixels of a smaller picture whose run counts what the formula says."""
    import numpy as np

    rng, wide = np.random.default_rng(6), 16
    x = rng.integers(-2, 3, (1024, wide)).astype(np.int16)
    weights = [rng.integers(-1, 2, (wide, wide)).astype(np.int16)] * LAYERS
    _, ran = chains.run_chain(x, weights, room=8192)
    told = chains.traffic(len(x), [wide] * (LAYERS + 1), room=8192, size=2)
    if ran != told:
        raise ValueError(f"the run counts {ran}, the formula {told}")
    return len(x)


def saved() -> Quantity:
    """Layer by layer over tile by tile."""
    return (chain("apart") / chain("chained")).named("traffic saved by the chain")


def gap() -> Quantity:
    """The matrix unit over one thread of the vector unit, FP16 products."""
    return (quoted("hexagon.hmx") / quoted("hexagon.hvx")).named("matrix over vector")


def peak() -> Quantity:
    """INT8 peak of a laptop's chip."""
    return hardware.get(PHONE).peak("int8")


def narrow() -> Quantity:
    """That peak over the FP16 rate measured on a phone's."""
    int8 = peak() / chosen(1, "TOP/s dense", label="operations")
    fp16 = quoted("hexagon.hmx") / chosen(1, "TFLOP/s dense", label="operations")
    return (int8 / fp16).named("INT8 over FP16")


def contexts() -> Quantity:
    """The same over as many vector contexts as some chips have."""
    return (gap() / quoted("hexagon.vectors_low")).named("matrix over all vectors")


def phone(name: str = "") -> Quantity:
    """A token of a smaller model on the laptop's chip: its account, or a line of it."""
    found = serving.account(SMALL, PHONE, FORMAT)
    if name:
        return found[name].time
    return found.total()


def memory() -> Quantity:
    """Bandwidth of that chip's memory."""
    return hardware.get(PHONE).memory_bandwidth


def large(what: str) -> Quantity:
    """The token's model in that format, and the memory that it does not fit."""
    if what == "weights":
        return models.get("llama-3-70b").weight_bytes(FORMAT)
    return hardware.get(PHONE).memory_capacity

"""Section 5.1: Should you rent something else?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.accelerators import compare, machine
from stacklib.accelerators.machines.compare import Compared
from stacklib.accelerators.machines.rows import BETS, MACHINES, Bet
from stacklib.pages.chain.posts import CONTEXT, MODEL
from stacklib.pages.figures_of import measured
from stacklib.quantity import Quantity, bytes_per_element, chosen, counting, dtype
from stacklib.roofline.work.moving import memory_time

OWN = "H100"  # the machine of the running case
POD = "tpu_v7"
APPLE = {"M4 Max": "E-0826", "M2 Ultra": "E-0820"}
SMALL, FILE = "llama-2-7b", "q4_0"
EDGE = ("et_soc_1", "hexagon_x_elite", "coral_edge_tpu", "dimensity_9400")


@cache
def eight(batch: int = 1) -> dict[str, Compared]:
    """The running case on each of the eight machines."""
    rows = compare(MODEL, MACHINES, batch=batch, context=CONTEXT)
    return {row.machine.name: row for row in rows}


def roof(name: str) -> Quantity:
    """Seconds of a token that nothing on that machine can beat."""
    found = eight()[name].roof
    assert found is not None
    return found


def fastest() -> Compared:
    """The machine with the shortest token for one reader."""
    return min(eight().values(), key=lambda row: roof(row.machine.name).si)


def times() -> Quantity:
    """How many times as fast it is as the eight H100s."""
    found = roof(OWN) / roof(fastest().machine.name)
    return found.named("eight H100s over the fastest")


def memory(name: str) -> Quantity:
    """Bytes of all chips of a machine."""
    row = MACHINES[name]
    have = row.device.memory_capacity.across(row.chips or 1)
    return have.named(f"memory of {name}")


@counting("chips, {name}")
def chips(name: str) -> int:
    """Of a machine of the table."""
    return MACHINES[name].chips or 1


def rate(name: str) -> Quantity:
    """Bytes a second of all its chips' memories together."""
    row = MACHINES[name]
    found = row.device.memory_bandwidth.across(row.chips or 1)
    return found.named(f"bandwidth of {name}")


def read(name: str) -> Quantity:
    """Bytes that a token reads on a machine: weights and its cache."""
    found = eight()[name].account
    assert found is not None
    moved = [line.bytes for line in found.lines if isinstance(line.bytes, Quantity)]
    return sum(moved[1:], moved[0]).named(f"read for a token, {name}")


def expected() -> Quantity:
    """What kernels, links and an engine make of the eight H100s."""
    found = eight()[OWN].expected
    assert found is not None
    return found


def told() -> list[dict[str, Any]]:
    """The table of eight: one row a machine."""
    return [
        {
            "machine": f"{row.chips} x {name}",
            "weights": row.machine.dtype,
            "a token": row.roof,
            "energy": row.joules,
            "dollars": row.dollars,
            "binds": row.binds,
            "next": row.next,
            "figures": row.whose,
        }
        for name, row in eight().items()
    ]


def bets() -> list[dict[str, Any]]:
    """Nine makers, what each bets on, and with how many readers arithmetic binds."""
    return [
        {
            "maker": row.maker,
            "it bets that": row.bet,
            "it gives up": row.gives_up,
            "binds from": readers(row),
        }
        for row in BETS
    ]


def readers(row: Bet) -> Quantity | None:
    """Readers from which on arithmetic takes longer than weights; None: unknown."""
    device = hardware.get(row.on)
    rate_, known = device.fields.get("memory_bandwidth"), row.dtype in device.formats
    if rate_ is None or not known:
        return None
    of = dtype(row.dtype)
    both = chosen(2, of.operation, label="operations of a weight")
    work = device.peak(row.dtype) / both
    found = work * bytes_per_element(row.dtype) / rate_
    return found.named(f"readers, {device.short}")


# -- a pod, and a laptop ---------------------------------------------------------------


def pod_chips() -> Quantity:
    """Chips of an Ironwood pod."""
    return hardware.get(POD).link_domain


def pod_peak() -> Quantity:
    """Operations a second of all of them in FP8."""
    return hardware.get(POD).peak("fp8").across(pod_chips()).named("peak of a pod")


def pod_memory() -> Quantity:
    """Bytes of all their HBM, as one document multiplies it and as a driver counts."""
    return hardware.get(POD).memory_capacity.across(pod_chips()).named("HBM of a pod")


def apple(name: str) -> tuple[Quantity, Quantity]:
    """Tokens a second of a 7B file on a laptop: the roof, and what was published."""
    (row,) = compare(SMALL, [machine(name, 1, FILE)], context=64)
    assert row.roof is not None
    token = chosen(1, "token", label="a token")
    return (token / row.roof).to("token/s").named(f"roof on {name}"), measured(
        APPLE[name]
    )


def reached(name: str) -> Quantity:
    """The share of its roof that the published run reaches."""
    top, seen = apple(name)
    return (seen / top).named(f"share of the roof, {name}")


def edge() -> list[dict[str, Any]]:
    """Chips of phones and cards of a few watts, with what nobody publishes left out."""
    found = []
    for key in EDGE:
        device = hardware.get(key)
        peak = device.peak("int8") if "int8" in device.formats else None
        found.append(
            {
                "device": device,
                "int8": peak,
                "bandwidth": device.fields.get("memory_bandwidth"),
                "memory": device.fields.get("memory_capacity"),
                "power": device.fields.get("tdp"),
            }
        )
    return found


# -- the napkin ------------------------------------------------------------------------


def turns() -> Quantity:
    """Parts of a rack that a token passes one after the other: a layer's chips each."""
    return models.get(MODEL).size("layers", "layers")


def reading(name: str) -> Quantity:
    """Seconds in which a machine reads what a token needs."""
    row = MACHINES[name]
    found = memory_time(read(name), row.device, row.chips or 1)
    return (turns() * found if row.in_sram else found).named(f"reading on {name}")


def wider(name: str) -> Quantity:
    """Bandwidth of a machine over that of eight H100s."""
    return (rate(name) / rate(OWN)).named(f"bandwidth of {name} over {OWN}'s")

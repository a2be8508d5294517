"""Section 5.10: What did each bet do to the token?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.accelerators import compare, sram_machine
from stacklib.accelerators.machines.compare import Compared
from stacklib.accelerators.machines.rows import MACHINES
from stacklib.pages.accelerators import rent
from stacklib.pages.chain.posts import CONTEXT, MODEL
from stacklib.quantity import Quantity, counting
from stacklib.roofline.work.fit import fit_memory, fit_with_copies
from stacklib.serving.token.lines import Account

OWN, WAFERS, RACK = rent.OWN, "WSE-3", "Groq 3 LPU"
LIMITS = {"memory": "layer-2", "arithmetic": "layer-3", "links": "layer-5"}


@counting("conversations that fit on {name}")
def most(name: str) -> int:
    """Readers of the running case, each with a cache, beside the weights."""
    row = MACHINES[name]
    if row.in_sram:
        plan = sram_machine(MODEL, on=row.on, dtype=row.dtype, chips=row.chips)
        found = plan.conversations
        assert found is not None
        return found
    held = models.get(MODEL)
    fit = fit_memory(held, on=row.on, dtype=row.dtype, tp=row.chips or 1)
    fit = fit_with_copies(held, fit)
    have = fit.have.si * fit.chips
    return int((have - fit.weights.si) / fit.kv.si)


@cache
def full(name: str) -> Compared:
    """The machine with as many readers as fit."""
    return compare(MODEL, [name], batch=int(most(name).si), context=CONTEXT)[0]


def roof(name: str, *, shared: bool = False) -> Quantity:
    """Seconds of a token of one reader, alone or with all who fit."""
    found = full(name).roof if shared else rent.roof(name)
    assert found is not None
    return found


def joules(name: str, *, shared: bool = False) -> Quantity:
    """Energy of a token at the printed power."""
    row = full(name) if shared else rent.eight()[name]
    assert row.joules is not None
    return row.joules.named(f"a token on {name}{', shared' if shared else ''}")


def dollars(name: str, *, shared: bool = False) -> Quantity:
    """A million tokens at the lowest quote."""
    row = full(name) if shared else rent.eight()[name]
    assert row.dollars is not None
    return row.dollars.named(f"a million on {name}{', shared' if shared else ''}")


def told() -> list[dict[str, Any]]:
    """Each machine with one reader and with as many as fit."""
    return [
        {
            "machine": f"{row.chips} x {name}",
            "alone": row.roof,
            "readers": most(name),
            "together": roof(name, shared=True),
            "energy": full(name).joules,
            "dollars": full(name).dollars,
        }
        for name, row in rent.eight().items()
    ]


def waits(name: str) -> dict[str, Quantity]:
    """Seconds of reading, of arithmetic, and of links, before they overlap."""
    account = rent.eight()[name].account
    assert isinstance(account, Account)
    found = {}
    for words, field in zip(
        LIMITS, ("t_bytes", "t_arithmetic", "t_fixed"), strict=True
    ):
        times = [getattr(line, field) for line in account.lines]
        known = [time for time in times if time is not None]
        if known:
            found[words] = sum(known[1:], known[0]).named(f"{words} on {name}")
    return found


# -- numbers that others printed -------------------------------------------------------


def watts(name: str) -> Quantity:
    """Printed power of all chips."""
    row = MACHINES[name]
    return row.device.tdp.across(row.chips or 1).named(f"power of {name}")


def gain(name: str, over: str = OWN, *, shared: bool = False) -> Quantity:
    """Joules of one machine over those of another."""
    found = joules(over, shared=shared) / joules(name, shared=shared)
    return found.named(f"joules of {over} over {name}")


def dense() -> Quantity:
    """A wafer's peak without the zeros that its headline skips."""
    return hardware.get("wse3").peak("fp16")


def sparse() -> Quantity:
    """The headline."""
    return hardware.get("wse3").peak("fp16", sparse=True)


@counting("joules of a token, {batch} on {name}", unit="J")
def energy(name: str, batch: int) -> float:
    """With some readers at once, at the printed power."""
    (row,) = compare(MODEL, [name], batch=batch, context=CONTEXT)
    assert row.joules is not None
    return row.joules.si

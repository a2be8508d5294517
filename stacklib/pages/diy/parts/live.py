"""Builds, live: cards, board, supply and outlet from menus; what breaks, and lanes."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Any

from stacklib.cost.catalogue import part, parts
from stacklib.diy import Build, verify
from stacklib.diy.checker import RULES
from stacklib.diy.placing import place
from stacklib.diy.rules_power import drawn
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, bar, chart
from stacklib.plots.spec import readout

CARDS = (
    "rtx_3090_turbo",
    "rtx_4090",
    "rtx_5090",
    "rtx_pro_6000_blackwell",
    "rtx_a4000",
)
BOARDS = ("trx50_aero_d", "wrx90e_sage_se", "proart_x870e", "w680_ace", "romed8_2t")
SUPPLIES = ("mpg_a1000g", "straight_power_12_1500", "evga_1600_p2", "x_mighty_2000")
MAINS = {"120": "120 V", "230": "230 V", "240": "240 V"}
MOST = 8


def controls() -> list[dict[str, Any]]:
    """Cards, how many, the board, the supply and the outlet."""

    def menu(name: str, label: str, kind: str, keys: tuple[str, ...], at: int) -> Any:
        pairs = [[key, part(key, kind).name] for key in keys]
        return choices.select(name, label, pairs, keys[at])

    return [
        menu("card", "Card", "gpu", CARDS, 2),
        choices.slider("many", "How many", range(1, MOST + 1), 2),
        menu("board", "Board", "board", BOARDS, 0),
        menu("supply", "Supply", "psu", SUPPLIES, 1),
        choices.select("mains", "Outlet", MAINS, "120"),
    ]


@cache
def around(board: str) -> dict[str, Any]:
    """For a board the first processor, memory and cooler that go with it."""
    found = part(board, "board")
    cpu = next(c for c in parts("cpu") if c["series"] in found["series"])
    kit = next(
        k
        for k in parts("memory")
        if k["type"] == found["memory"] and k["module"] in found["modules"]
    )
    cooler = next(
        c
        for c in parts("cooler")
        if found["socket"] in c["sockets"] and c.get("cools", 0) >= cpu["peak"]
    )
    many = ceil(min(found["channels"], cpu["channels"]) / kit["modules"])
    return {"board": found, "cpu": cpu, "cooling": cooler, "memory": [kit] * many}


def made(card: str, many: int, board: str, supply: str) -> Build:
    """The machine: an open frame, each card on a riser."""
    return Build(
        **around(board),
        gpus=f"{many} x {card}",
        psu=supply,
        storage="990_pro_2tb",
        case="open_frame_8",
        risers="linkup_ava5_250",
    )


def explore(*, card: str, many: int, board: str, supply: str, mains: str) -> Spec:
    """Lanes of each card, and every finding with its sum and its mend."""
    build = made(card, many, board, supply)
    found, seats = verify(build, mains=float(mains)), place(build).seats
    broken = [f.rule for f in found if f.verdict == "broken"]
    open_ = len(found) - len(broken)
    told = [seat for seat in seats if seat.lanes is not None]
    bars = [
        bar(
            0,
            seat.lanes or 0,
            seats.index(seat) + 1,
            seat.slot.name,
            "predicted",
            at="none",
        )
        for seat in told
    ]
    title = f"Broken: {', '.join(broken)}." if broken else "No rule is broken."
    title += f" Undecided: {open_}." if open_ else ""
    power = drawn(build).quantity()
    said = [
        readout("holds", "Rules that hold", counted(len(RULES) - len(found), "rules")),
        readout("power", "What the supply gives", power, unit="W"),
        readout("dark", "Cards without a slot", counted(many - len(seats), "cards")),
    ]
    return chart(
        title,
        x=axis("Lanes left to the card", limits=[0, 16.5], ticks=(0, 4, 8, 16)),
        y=axis("Card", limits=[MOST + 0.6, 0.4], ticks=tuple(range(1, MOST + 1))),
        marks=bars,
        readouts=said,
        about={"device": "none: a whole machine", "role": "spec"},
        table=_table(found),
    )


def _table(found: list[Any]) -> dict[str, Any] | None:
    rows = []
    for f in found:
        mend = f.mend.says if f.mend else "no change of one part"
        cells = (f.sum or f.says, mend if f.verdict == "broken" else "find the fact")
        rows.append({"head": f.rule, "cells": [{"text": text} for text in cells]})
    head = ["Rule", "Sum", "What mends it"]
    return (
        {"caption": "What the checker says.", "head": head, "rows": rows}
        if rows
        else None
    )

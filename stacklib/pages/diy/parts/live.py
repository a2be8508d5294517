"""Builds, live: cards, board, supply and outlet from menus; what breaks, and lanes."""

from __future__ import annotations

from typing import Any

from stacklib.cost.catalogue import part
from stacklib.diy import Build, verify
from stacklib.diy.checker import RULES
from stacklib.diy.placing import place
from stacklib.diy.rules_power import drawn
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Spec, axis, bar, chart
from stacklib.plots.spec import readout

# Board -> processor, memory and cooler that go with it.
BOARDS = {
    "trx50_aero_d": ("7960x", "renegade_pro_128", "xe360_tr5"),
    "wrx90e_sage_se": ("7965wx", "v_color_512", "xe360_tr5"),
    "proart_x870e": ("9950x", "vengeance_ddr5_64", "peerless_assassin_120"),
    "w680_ace": ("14900k", "vengeance_ddr5_64", "nh_d15_g2"),
    "romed8_2t": ("epyc_7302", "8 x ksm32r_32", "nh_u14s_tr4"),
}
CARDS = (
    "rtx_3090_turbo",
    "rtx_4090",
    "rtx_5090",
    "rtx_pro_6000_blackwell",
    "rtx_a4000",
)
SUPPLIES = ("mpg_a1000g", "straight_power_12_1500", "evga_1600_p2", "x_mighty_2000")
MAINS = {"120": "120 V", "230": "230 V", "240": "240 V"}
MOST = 8


def controls() -> list[dict[str, Any]]:
    """Cards, how many, the board, the supply and the outlet."""
    menus = {"card": CARDS, "board": tuple(BOARDS), "supply": SUPPLIES}
    kinds = {"card": "gpu", "board": "board", "supply": "psu"}
    start = {"card": CARDS[2], "board": "trx50_aero_d", "supply": SUPPLIES[1]}
    made = [
        choices.select(
            name,
            name.capitalize(),
            [[key, part(key, kinds[name]).name] for key in keys],
            start[name],
        )
        for name, keys in menus.items()
    ]
    many = choices.slider("many", "How many cards", range(1, MOST + 1), 2)
    return [*made, many, choices.select("mains", "Outlet", MAINS, "120")]


def made(card: str, many: int, board: str, supply: str) -> Build:
    """The machine: an open frame, each card on a riser."""
    cpu, memory, cooling = BOARDS[board]
    return Build(
        gpus=f"{many} x {card}",
        cpu=cpu,
        board=board,
        memory=memory,
        psu=supply,
        storage="990_pro_2tb",
        case="open_frame_8",
        cooling=cooling,
        risers="linkup_ava5_250",
    )


def explore(*, card: str, many: int, board: str, supply: str, mains: str) -> Spec:
    """Lanes of each card, and every finding with its sum and its mend."""
    build = made(card, many, board, supply)
    found, seats = verify(build, mains=float(mains)), place(build).seats
    broken = [f.rule for f in found if f.verdict == "broken"]
    open_ = len(found) - len(broken)
    title = f"Broken: {', '.join(broken)}." if broken else "No rule is broken."
    title += f" Undecided: {open_}." if open_ else ""
    dark = many - len(seats)
    spec = chart(
        title,
        x=axis("Lanes left to the card", limits=[0, 16.5], ticks=(0, 4, 8, 16)),
        y=axis("Card", limits=[MOST + 0.6, 0.4], ticks=tuple(range(1, MOST + 1))),
        marks=[
            bar(0, seat.lanes, row, seat.slot.name, "predicted", at="none", series=0)
            for row, seat in enumerate(seats, 1)
            if seat.lanes is not None
        ],
        readouts=[
            readout(
                "holds", "Rules that hold", counted(len(RULES) - len(found), "rules")
            ),
            readout(
                "power", "What the supply gives", drawn(build).quantity(), unit="W"
            ),
            readout("dark", "Cards without a slot", counted(dark, "cards")),
        ],
        about={"device": "none: a whole machine", "role": "spec"},
    )
    if found:
        spec["table"] = {
            "caption": "What the checker says.",
            "head": ["Rule", "Sum", "What mends it"],
            "rows": [_row(f) for f in found],
        }
    return spec


def _row(found: Any) -> dict[str, Any]:
    mend = found.mend.says if found.mend else "no change of one part"
    texts = (found.sum, mend if found.verdict == "broken" else "read the fact")
    return {"head": found.rule, "cells": [{"text": text} for text in texts]}

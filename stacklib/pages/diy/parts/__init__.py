"""Section 9.2: Does this list of parts hold together?"""

from __future__ import annotations

from functools import cache, reduce
from operator import add
from typing import Any

from stacklib import hardware
from stacklib.cost.catalogue import part
from stacklib.diy import Build, speed, verify
from stacklib.diy.build import KIND_OF
from stacklib.diy.findings import Finding
from stacklib.diy.placing import Seat, place
from stacklib.diy.rules import counted as grouped
from stacklib.pages.chain.posts import OUTLET
from stacklib.quantity import Quantity, chosen, counting, quoted

MODEL = "llama-3-70b:q4_k_m"
MAINS = OUTLET  # V, of the guide's reader
LISTS = {
    "guide": "2 x rtx_5090, 7960x, wrx90e_sage_se, renegade_pro_128, "
    "straight_power_12_1500, 990_pro_4tb, enthoo_pro_2_server, xe360_tr5",
    "desktop": "4 x rtx_3090_turbo, 14900k, w680_ace, vengeance_ddr5_96, evga_1600_p2, "
    "870_evo_4tb, open_frame_8, nh_d15_g2, tt_gen4_300",
    "server": "4 x rtx_3090_turbo, epyc_7302, romed8_2t, 8 x ksm32r_32, evga_1600_p2, "
    "870_evo_4tb, open_frame_8, nh_u14s_tr4, tt_gen4_300",
}
LIMIT = {"desktop": 200.0, "server": 200.0}  # W of a card


@cache
def build(name: str = "guide") -> Build:
    """One of the page's machines."""
    parts: dict[str, Any] = dict(zip(KIND_OF, LISTS[name].split(", "), strict=False))
    return Build(**parts, limit=LIMIT.get(name))


@cache
def steps() -> tuple[Finding, ...]:
    """The first finding, mended; the first of what is left, and so on until none is."""
    now, mains, found = build(), float(MAINS), list[Finding]()
    while told := verify(now, mains=mains):
        found.append(told[0])
        assert told[0].mend is not None
        now, mains = told[0].mend.build, told[0].mend.mains or mains
    return tuple(found)


def mended() -> Build:
    """The build after the last step."""
    last = steps()[-1].mend
    assert last is not None
    return last.build


def need(rule: str, have: bool = False) -> Quantity:
    """Of a rule that the guide's list breaks, what it asks for or what there is."""
    found = next(f for f in findings("guide") if f.rule == rule)
    amount = found.have if have else found.need
    assert amount is not None
    return amount.quantity()


def findings(name: str) -> list[Finding]:
    """What the checker says of one of the machines."""
    return verify(build(name), mains=MAINS)


@counting("rules that the guide's list breaks")
def broken() -> int:
    """Of the list as it is printed."""
    return len(findings("guide"))


def core() -> Quantity:
    """What cards and processor of the guide's list draw."""
    cards = fact("rtx_5090", "power").across(2)
    return (cards + fact("7960x", "peak")).named("cards and processor")


def rows() -> list[dict[str, Any]]:
    """The steps as a table."""
    return [
        {
            "rule": f.rule,
            "what breaks it": f.says if f.rule == "series" else f.sum,
            "cheapest change": f.mend and f.mend.says,
            "dollars": f.mend and chosen(f.mend.dollars, "USD", label=f.mend.says),
        }
        for f in steps()
    ]


def fact(name: str, field: str) -> Quantity:
    """A number of a part."""
    return part(name).quantity(field)


def bill(of: Build | None = None) -> Quantity:
    """All parts at their newest prices."""
    every = grouped((of or build()).parts())
    prices = [one.quotes[-1].value.across(many) for many, one in every]
    return reduce(add, prices).named("all parts, newest prices")


def lines() -> list[dict[str, Any]]:
    """The bill, part by part."""
    return [
        {
            "part": f"{many} x {one.name}",
            "each": one.quotes[-1].value.across(1),
            "price of": one.quotes[-1].date,
            "kind": one.quotes[-1].what,
        }
        for many, one in grouped(build().parts())
    ]


def seats(name: str) -> tuple[Seat, ...]:
    """Where the cards of a machine stand."""
    return place(build(name)).seats


@counting("lanes of card {card}, {name} board")
def lanes(card: int, name: str = "desktop") -> int:
    """Lanes that are left to a card, the first of them 1."""
    return int(seats(name)[card - 1].told("lanes"))


def lane(generation: int) -> Quantity:
    """Bytes a second of one lane, one way."""
    whole = hardware.link(f"pcie{generation}_x16").link_bandwidth
    return (whole / chosen(16, label="lanes of a slot")).named("a lane")


@counting("PCIe generation of card {card}, {name} board")
def generation(card: int, name: str = "desktop") -> int:
    """The oldest of card, slot and processor."""
    seat = seats(name)[card - 1]
    every = (seat.card, build(name).cpu)
    return int(min(seat.told("generation"), *(one["generation"] for one in every)))


def link(card: int, name: str = "desktop") -> Quantity:
    """Bytes a second between a card and what its slot hangs on."""
    rate = lanes(card, name) * lane(int(generation(card, name).si))
    return rate.named(f"link of card {card}, {name} board")


def uplink() -> Quantity:
    """Bytes a second between chipset and processor of the desktop board."""
    each = lane(int(quoted("rig.w680_uplink").si))
    return (fact("w680_ace", "uplink") * each).named("between chipset and processor")


@counting("{what} by {split}, {name}", unit="token/s", family="J/decode")
def rate(name: str, split: str, what: str = "decode") -> float:
    """Tokens a second of Llama-3-70B: ``decode``, its ``low``, ``high``, ``prompt``."""
    made = mended() if name == "mended" else build(name)
    return float(getattr(speed(made, MODEL, split=split), what))


def token(split: str) -> Quantity:
    """Seconds of a token on the mended build."""
    one = chosen(1, "token", label="a token")
    return (one / rate("mended", split)).to("s").named(f"a token by {split}")


def printed(cards: int) -> str:
    """Lanes on a Creator X299, whose maker prints them, as makers write them."""
    made = build().with_(
        cpu="10980xe", board="creator_x299", gpus=f"{cards} x rtx_a4000"
    )
    return "/".join(f"x{seat.told('lanes')}" for seat in place(made).seats)

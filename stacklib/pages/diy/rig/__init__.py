"""Section 9.3: Is the machine you have what you think?"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

from stacklib import diy, hardware, models
from stacklib.diy.ailments import Ailment
from stacklib.diy.cards import Cards, own_link
from stacklib.diy.rig import Rig
from stacklib.diy.splits import Speed
from stacklib.evidence import measurements
from stacklib.evidence.calibrate.bands import Miss, holds
from stacklib.evidence.calibrate.public import rig_misses
from stacklib.evidence.predict import predictor
from stacklib.evidence.validate import quantile
from stacklib.hardware.errors import error_band
from stacklib.interconnect.networks.pcie import board_path, farthest, slot
from stacklib.interconnect.schedules.closed import closed_count
from stacklib.pages.chain.posts import CONTEXT, MODEL
from stacklib.quantity import Quantity, chosen, counted, counting
from stacklib.quantity.constants import case
from stacklib.quantity.leaves import stamp
from stacklib.roofline.work.moving import moving_time

CARD, MANY = "rtx_3090", 4
FILE = f"{MODEL}:q4_k_m"
LANES = (16, 8, 4, 1)
FEW = 4  # lanes of the card in question
READERS = case("home")  # conversations at once
COLUMNS = ("layers", "tensors", "eight at once", "prompt, layers", "prompt, tensors")
RIGS = 8  # rows of a table

# What a machine of this page prints: made up, in the format of the commands.
SMI = """\
name, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, \
pcie.link.width.max, utilization.gpu [%], power.limit [W]
NVIDIA GeForce RTX 3090, 4, 4, 16, 16, 97 %, 350.00 W
NVIDIA GeForce RTX 3090, 3, 4, 16, 16, 96 %, 350.00 W
NVIDIA GeForce RTX 3090, 4, 4, 16, 16, 98 %, 220.00 W
NVIDIA GeForce RTX 3090, 4, 4, 4, 16, 97 %, 350.00 W
"""


def machine(text: str = SMI) -> Rig:
    """The machine that was pasted."""
    return diy.read_rig(smi=text)


def cards(lanes: int = 16, *, card: str = CARD, many: int = MANY) -> Cards:
    """Cards in full slots, the last of them in one of so many lanes."""
    device = hardware.get(card)
    made, wide = own_link(device)
    links = ((made, wide),) * (many - 1) + ((made, min(lanes, wide)),)
    return Cards((device,) * many, links)


@cache
def run(split: str, lanes: int = 16, batch: int = 1) -> Speed:
    """The model on four cards, the last in a slot of so many lanes."""
    return diy.speed(cards(lanes), FILE, split=split, batch=batch, context=CONTEXT)


def running(what: str, split: str, lanes: int = 16, batch: int = 1) -> float:
    """A number of ``run``: ``decode``, ``low``, ``high`` or ``prompt``."""
    return float(getattr(run(split, lanes, batch), what))


def rate(split: str, lanes: int = 16, batch: int = 1, what: str = "decode") -> Quantity:
    """Tokens a second, with the band of its kind; or an end of it, or a prompt's."""
    told = f"{what}, tokens a second by {split}, {batch} at once, {lanes} lanes"
    kind = "prompt/layers" if what == "prompt" else f"decode/{split}"
    call = counted(running, what, split, lanes, batch, unit="token/s", label=told)
    return stamp(call, f"J/{kind}")


def lost(what: str, lanes: int, batch: int = 1) -> Quantity:
    """Share of the speed by tensors that is gone with the last card on few lanes."""
    of, left = (rate("tensors", n, batch, what) for n in (16, lanes))
    return ((of - left) / of).named(f"lost of {what}, {batch} at once")


def step(split: str) -> Quantity:
    """Seconds of a token."""
    token = chosen(1, "token", label="a token")
    return (token / rate(split)).to("ms").named(f"a token by {split}")


@counting("bytes a second between two RTX 3090 over {word}, {lanes} lanes", unit="B/s")
def way(lanes: int = 16, word: str = "PHB", peer: bool = False) -> float:
    """What NCCL gets between two cards whose narrower slot has so many lanes."""
    made = own_link(hardware.get(CARD))[0]
    level = farthest(MANY)
    return board_path(word, slot(made, lanes), peer=peer, level=level).rate


@counting("bytes a second of a slot of {lanes} lanes, one way", unit="B/s")
def lane_rate(lanes: int = 16) -> float:
    """After its code."""
    return slot(own_link(hardware.get(CARD))[0], lanes)


def activations(tokens: int) -> Quantity:
    """Bytes of so many tokens between two layers."""
    rows = chosen(tokens, label="tokens")
    width = chosen(2, "B", label="bytes of a number")
    return (rows * models.get(MODEL).size("hidden", "hidden size") * width).named(
        "activations"
    )


def layers_each() -> Quantity:
    """Layers of each card, by layers."""
    layers = models.get(MODEL).size("layers", "layers")
    return (layers / chosen(MANY, label="cards")).named("layers of a card")


@counting("share of the array that a card of {many} sends around a ring")
def sent(many: int) -> float:
    """By the closed form of the schedule."""
    return float(closed_count("all_reduce", "ring", many).share)


def crossing() -> Quantity:
    """Bytes that each card sends in an all-reduce of a whole prompt."""
    return (sent(MANY) * activations(CONTEXT)).named("sent by each card")


@counting("an exchange, {lanes} lanes", unit="s", shown="ms")
def exchange(lanes: int) -> float:
    """Seconds of one all-reduce of the prompt: its bytes, without its steps."""
    return float(moving_time(crossing().si, way(lanes)))


def exchanges() -> Quantity:
    """Two in each layer."""
    return (2 * models.get(MODEL).size("layers", "layers")).named("exchanges")


def exchanging(lanes: int) -> Quantity:
    """Seconds of all exchanges of the prompt."""
    return (exchanges() * exchange(lanes)).to("s").named(f"exchanges, {lanes} lanes")


def reading(lanes: int) -> Quantity:
    """Seconds of the prompt."""
    tokens = chosen(CONTEXT, "token", label="tokens of the prompt")
    return (tokens / rate("tensors", lanes, what="prompt")).to("s").named("the prompt")


def row(lanes: int) -> dict[str, Any]:
    """What is left with one card on so many lanes."""
    runs = [
        *(rate(split, lanes) for split in ("layers", "tensors")),
        rate("tensors", lanes, READERS),
        *(rate(split, lanes, what="prompt") for split in ("layers", "tensors")),
    ]
    return {"lanes": lanes, **dict(zip(COLUMNS, runs, strict=True))}


@cache
def found(split: str = "tensors") -> tuple[Ailment, ...]:
    """What is wrong with it."""
    told = diy.diagnose(machine(), FILE, split=split, context=CONTEXT)
    return tuple(one for one in told if isinstance(one, Ailment))


@counting("tokens a second more, {rule} mended, by {split}", unit="token/s")
def mended(rule: str, split: str = "tensors") -> float:
    """What mending one thing gives."""
    return next(one.gives for one in found(split) if one.rule == rule)


# -- rigs that were published --------------------------------------------------------

KINDS = {
    "decode/one card": "a token, one card",
    "decode/layers": "a token, by layers",
    "decode/tensors": "a token, by tensors",
    "decode/copies": "a token, copies",
    "prompt/layers": "a prompt, by layers",
    "decode/processor": "a token, no card",
}


def scores(by: str) -> list[dict[str, Any]]:
    """Misses of published rows: ``"split"``, or ``"card"`` for the most frequent."""
    groups: dict[str, list[Miss]] = defaultdict(list)
    for miss in rig_misses():
        words = miss.case.words
        if by == "split":
            groups["/".join(words)].append(miss)
        elif words[0] == "decode":
            groups[miss.case.device].append(miss)
    if by == "split":
        return [_score(told, groups[cell], cell) for cell, told in KINDS.items()]
    most = sorted(groups, key=lambda key: (-len(groups[key]), key))[:RIGS]
    return [_score(hardware.get(key).short, groups[key], "decode") for key in most]


def _score(what: str, rows: list[Miss], cell: str) -> dict[str, Any]:
    band = error_band(f"J/{cell}")
    off = [miss.error for miss in rows]
    return {
        "what": what,
        "rows": len(rows),
        "median miss": quantile(off, 0.5),
        "nine in ten": quantile(off, 0.9),
        "in the band": band and holds(rows, (band.low, band.high)) / len(rows),
    }


@counting("published rows of rigs that are predicted")
def rows() -> int:
    """In tokens a second."""
    return len(rig_misses())


@counting("speed of {id} as predicted", unit="%")
def predicted(id: str) -> float:
    """Of such a row."""
    (one,) = (row for row in measurements.found() if row.id == id)
    return predictor("J")(one)().value

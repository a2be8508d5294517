"""A machine that stands there, from pasted text: cards, links, limits, and the way.

``nvidia-smi -q`` tells each card's link now and at most, its limit and what keeps its
clock down; ``nvidia-smi topo -m`` the way between two; ``lspci -vv`` the links where
nvidia-smi keeps quiet. A link at rest trains down to a lower generation: a generation
counts under load alone, a width always.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.nvidia_smi import SmiReading, read_smi
from stacklib.interconnect.networks.pcie import GENERATIONS, LANES, WORDS
from stacklib.interconnect.networks.read_topo import read_topo
from stacklib.interconnect.networks.topo_reading import TopoReading
from stacklib.quantity import UnknownName

from .cards import GIB, Cards, Link, own_link

SPEEDS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}  # GT/s: generation
LOAD = 0.5  # share of the time with a kernel running, from which a card is under load
_DEVICE = re.compile(r"^((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d) (.+)$")
_STATE = re.compile(r"Speed ([\d.]+) ?GT/s.*?Width x(\d+)")


class RigError(ValueError):
    """Text that none of the three commands prints; names the line."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a rig.

    - ``link``, ``most``: generation and lanes now, and at most as card and slot are
    - ``limit``: watts in force; ``busy``: whether it was read under load
    - ``clock``: of the compute units, over the boost clock; None where nothing tells it
    - ``reasons``: what keeps its clock down
    """

    name: str
    device: Accelerator
    link: Link
    most: Link
    limit: float | None
    busy: bool
    clock: float | None
    reasons: tuple[str, ...]

    @property
    def works(self) -> Link:
        """The link that it works with: idle, a generation says nothing."""
        return (self.link[0] if self.busy else self.most[0]), self.link[1]


@dataclass(frozen=True, slots=True)
class Rig:
    """A machine that was read: its cards, and the ways between them."""

    hands: tuple[Card, ...]
    topo: TopoReading | None = None

    @property
    def path(self) -> str:
        """The word of the farthest pair; PHB where no topology was pasted."""
        if self.topo is None or len(self.hands) < 2:
            return "PHB"
        pairs = [self.topo.between(a, b) for a, b in self.topo.pairs() if _gpus(a, b)]
        words = [word for word in pairs if word in WORDS]
        return max(words, key=WORDS.index, default="PIX")

    @property
    def cards(self) -> Cards:
        """The cards as they work now."""
        return self.as_(tuple(card.works for card in self.hands))

    def as_(self, links: tuple[Link, ...]) -> Cards:
        """The cards with other links."""
        bridged = peer = None
        if self.topo is not None and len(self.hands) > 1:
            pairs = [(a, b) for a, b in self.topo.pairs() if _gpus(a, b)]
            bridged = all(self.topo.nvlinks(a, b) for a, b in pairs)
            reach = [self.topo.reach(a, b) for a, b in pairs]
            peer = None if None in reach else all(reach)
        limits = [card.limit for card in self.hands if card.limit is not None]
        return Cards(
            tuple(card.device for card in self.hands),
            links,
            self.path,
            peer,
            bool(bridged),
            min(limits, default=None),
        )

    def with_card(self, at: int, **changes: Any) -> Rig:
        """The same rig with one card changed."""
        hands = list(self.hands)
        hands[at] = replace(hands[at], **changes)
        return replace(self, hands=tuple(hands))


def _gpus(a: str, b: str) -> bool:
    return a.startswith("GPU") and b.startswith("GPU")


def read_rig(
    smi: str | None = None, topo: str | None = None, lspci: str | None = None
) -> Rig:
    """The machine that some pasted text describes.

    Parameters
    ----------
    smi : str, optional
        Output of ``nvidia-smi -q``, best under load, or of its ``--query-gpu``.
    topo : str, optional
        Output of ``nvidia-smi topo -m``, and of ``topo -p2p r`` behind it.
    lspci : str, optional
        Output of ``lspci -vv``; alone it gives names and links.

    Returns
    -------
    Rig

    Raises
    ------
    RigError
        For no text, text of another tool, a card that is not known, and counts of cards
        that differ: a ValueError.

    Examples
    --------
    >>> from stacklib.hardware.nvidia_smi import smi_sample
    >>> rig = read_rig(smi=smi_sample("rtx4090_riser"))
    >>> rig.hands[0].link, rig.hands[0].most
    ((3, 8), (4, 16))
    """
    for name, text in (("smi", smi), ("topo", topo), ("lspci", lspci)):
        if text is not None and not isinstance(text, str):
            raise RigError(f"{name} = {text!r}: the text that the command printed")
    if smi is None and lspci is None:
        raise RigError("nothing to read: paste nvidia-smi -q, or lspci -vv")
    links = [] if lspci is None else read_lspci(lspci)
    if smi is None:
        hands = [_card(SmiReading(name=name), both) for name, *both in links]
    else:
        readings = read_smi(smi)
        if links and len(links) != len(readings):
            raise RigError(
                f"lspci shows {len(links)} cards, nvidia-smi {len(readings)}: paste "
                "both from one machine"
            )
        found: list[list[Link] | None] = [both for _, *both in links]
        found = found or [None] * len(readings)
        hands = [_card(one, both) for one, both in zip(readings, found, strict=True)]
    ways = None if topo is None else read_topo(topo)
    if ways is not None and len(ways.gpus) != len(hands):
        raise RigError(
            f"topo -m shows {len(ways.gpus)} GPUs, the others {len(hands)}: paste all "
            "from one machine"
        )
    return Rig(tuple(hands), ways)


def _card(reading: SmiReading, told: list[Link] | None) -> Card:
    if not reading.name:
        raise RigError("no name of a card: paste nvidia-smi -q as a whole")
    memory = None if reading.memory is None else reading.memory.si
    device = named_card(reading.name, memory)
    own = own_link(device)
    now, most = told or (None, None)
    busy = reading.busy is None or reading.busy.si >= LOAD
    fields = ("generation_max", "lanes_max", "generation", "lanes")
    pairs = [getattr(reading, field) for field in fields]
    if pairs[1] is not None:
        most = int(pairs[0].si if pairs[0] is not None else own[0]), int(pairs[1].si)
    if pairs[3] is not None:
        now = int(pairs[2].si if pairs[2] is not None else own[0]), int(pairs[3].si)
    clock = device.fields.get("clock")
    share = None
    if reading.clock is not None and clock is not None:
        share = reading.clock.si / clock.si
    return Card(
        reading.name,
        device,
        _real(now or most or own, reading.name),
        _real(most or own, reading.name),
        None if reading.power_limit is None else float(reading.power_limit.si),
        busy,
        share,
        reading.reasons or (),
    )


def _real(link: Link, name: str) -> Link:
    if link[0] not in GENERATIONS or link[1] not in LANES:
        raise RigError(f"{name}: no link is PCIe {link[0]} with {link[1]} lanes")
    return link


def named_card(name: str, memory: float | None = None) -> Accelerator:
    """The device of a product's name, as nvidia-smi or lspci prints it.

    - ``memory``: bytes that it has, where two products of one name differ in it
    - raises ``RigError`` for one that the database lacks, with what is near
    """
    inner = re.search(r"\[([^\]]+)\]", name)
    text = inner[1] if inner else name
    plain = re.sub(r"\b(NVIDIA|Corporation|GeForce|Generation)\b", " ", text)
    device, last = None, ""
    for asked in (text, plain.strip(), plain.split("/")[0].strip()):
        try:
            device = hardware.get(asked)
            break
        except UnknownName as unknown:
            last = str(unknown).splitlines()[-1]
    if device is None:
        raise RigError(f"{name!r} is no card of the database; {last}")
    if memory is None or _near(device, memory):
        return device
    stem = re.sub(r"_\d+gb$", "", device.key)
    for key in hardware.names():
        if re.fullmatch(rf"{stem}(_\d+gb)?", key) and _near(hardware.get(key), memory):
            return hardware.get(key)
    raise RigError(f"{name!r} with {memory / GIB / 1e9:.0f} GB is none of the database")


def _near(device: Accelerator, memory: float) -> bool:
    have = GIB * device.memory_capacity.si
    return bool(0.85 * have < memory < 1.1 * have)


def read_lspci(text: str) -> list[tuple[str, Link, Link]]:
    """Name, link now and link at most of every NVIDIA card in ``lspci -vv``.

    - raises ``RigError`` for text without a card, or a card without its link
    """
    found: list[tuple[str, Link, Link]] = []
    name, at = "", 0
    seen: dict[str, Link] = {}
    lines = [*enumerate(text.splitlines(), 1), (0, "00:00.0 end")]
    for number, line in lines:
        if head := _DEVICE.match(line.strip()):
            if name:
                if {*seen} != {"Cap", "Sta"}:
                    raise RigError(
                        f"line {at}: {name!r} tells no LnkCap and LnkSta; run "
                        "sudo lspci -vv"
                    )
                found.append((name, seen["Sta"], seen["Cap"]))
            card = re.search(
                r"(VGA compatible|3D) controller.*?: (.*NVIDIA.*)", head[2]
            )
            name, at, seen = (card[2] if card else ""), number, {}
        for which in ("Cap", "Sta") if name else ():
            if f"Lnk{which}:" in line and which not in seen:
                state = _STATE.search(line)
                if not state or float(state[1]) not in SPEEDS:
                    raise RigError(f"line {number}: {line.strip()!r} tells no link")
                seen[which] = SPEEDS[float(state[1])], int(state[2])
    if not found:
        raise RigError("no NVIDIA card in it: paste sudo lspci -vv")
    return found

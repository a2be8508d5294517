"""A machine that stands there, from pasted text: cards, links, limits, and the way.

``nvidia-smi -q`` tells each card's link now and at most, its limit and what keeps its
clock down; ``nvidia-smi topo -m`` the way between two; ``lspci -vv`` the links where
nvidia-smi keeps quiet. A link at rest trains down to a lower generation: a generation
counts under load alone, a width always.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.hardware.lspci import read_lspci
from stacklib.hardware.nvidia_smi import SmiReading, named_card, read_smi
from stacklib.interconnect.networks.pcie import GENERATIONS, LANES, WORDS
from stacklib.interconnect.networks.read_topo import read_topo
from stacklib.interconnect.networks.topo_reading import TopoReading

from .build import table
from .cards import Cards, Link, own_link
from .voltage import power

LOG = "NVSMI LOG"  # heads what ``nvidia-smi -q`` prints
LOAD = 0.5  # share of the time with a kernel running, from which a card is under load
TEXTS = table("texts", "tool")  # what people paste: tool and what its text has
READ = ("lspci", "smi", "topo")  # arguments of ``read_rig``; the others are refused


class RigError(ValueError):
    """Text that none of the three commands prints; names the line."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a rig.

    - ``link``, ``most``: generation and lanes now, and at most as card and slot are
    - ``limit``: watts in force; ``busy``: read under load, at rest, or None: not told
    - ``clock``: of the compute units, over the boost clock; None where nothing tells it
    - ``reasons``: what keeps its clock down; ``told``: whether the text has its link
    """

    name: str
    device: Accelerator
    link: Link
    most: Link
    limit: float | None
    busy: bool | None
    clock: float | None
    reasons: tuple[str, ...]
    told: bool = True

    @property
    def works(self) -> Link:
        """The link that it works with: but under load, a generation says nothing."""
        return (self.link[0] if self.busy else self.most[0]), self.link[1]

    def limited(self, work: str) -> float:
        """Share of the speed that its limit of power leaves it."""
        low = self.limit is not None and self.limit < self.device.tdp.si
        return power(self.device, self.limit, work=work).speed if low else 1.0


@dataclass(frozen=True, slots=True)
class Rig:
    """A machine that was read: its cards, and the ways between them."""

    hands: tuple[Card, ...]
    topo: TopoReading | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every two of its cards, by the names that ``topo -m`` gives them."""
        found = self.topo.pairs() if self.topo else []
        return [(a, b) for a, b in found if a[:3] == b[:3] == "GPU"]

    @property
    def path(self) -> str:
        """The word of the farthest pair; PHB where no topology was pasted."""
        if self.topo is None or not self.pairs:
            return "PHB"
        words = [self.topo.between(*pair) for pair in self.pairs]
        return max((w for w in words if w in WORDS), key=WORDS.index, default=WORDS[0])

    @property
    def cards(self) -> Cards:
        """The cards as they work now."""
        bridged = peer = None
        if self.topo is not None and self.pairs:
            bridged = all(self.topo.nvlinks(*pair) for pair in self.pairs)
            reach = [self.topo.reach(*pair) for pair in self.pairs]
            peer = None if None in reach else all(reach)
        slowest = min(self.hands, key=lambda card: card.limited("decode"))
        return Cards(
            tuple(card.device for card in self.hands),
            tuple(card.works for card in self.hands),
            self.path,
            peer,
            bool(bridged),
            slowest.limit,
        )

    def with_cards(self, which: list[int], **changes: Any) -> Rig:
        """The same rig with some cards changed."""
        both = enumerate(self.hands)
        hands = (replace(c, **changes) if at in which else c for at, c in both)
        return replace(self, hands=tuple(hands))


def kind_of(text: str) -> str:
    """Which of the three commands printed a text: ``smi``, ``topo`` or ``lspci``.

    - raises ``RigError`` for the text of another, by its name
    """
    found = [t for t, row in TEXTS.items() if re.search(row["has"], text, re.MULTILINE)]
    if (other := [tool for tool in found if tool not in READ]) and LOG not in text:
        says = "give nvidia-smi -q, nvidia-smi topo -m, lspci -vv"
        raise RigError(f"this is {other[0]}: {says}")
    if found:
        return found[0]
    first = next(iter(text.strip().split("\n")), "").strip()[:60]
    raise RigError(f"{first!r} is none of nvidia-smi -q, nvidia-smi topo -m, lspci -vv")


def cleaned(text: str) -> str:
    """Pasted text without what terminals, pages and other systems put around it."""
    text = re.sub("\x1b\\[[0-9;]*[A-Za-z]|\ufeff|\r", "", text).replace("\xa0", " ")
    lines = [line for line in text.split("\n") if not line.startswith("```")]
    if all(line.startswith(">") for line in lines if line.strip()):
        lines = [line[1:].removeprefix(" ") for line in lines]
    return textwrap.dedent("\n".join(lines))


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
        For no text, text of another tool, a card that is not known, one cut into
        instances, and counts of cards that differ: a ValueError.

    Examples
    --------
    >>> from stacklib.hardware.nvidia_smi import smi_sample
    >>> rig = read_rig(smi=smi_sample("rtx4090_riser"))
    >>> rig.hands[0].link, rig.hands[0].most
    ((3, 8), (4, 16))
    """
    told: dict[str, str] = {}
    for name, text in (("smi", smi), ("topo", topo), ("lspci", lspci)):
        if text is not None and not isinstance(text, str):
            raise RigError(f"{name} = {text!r}: the text that the command printed")
        if text is not None:
            told[name] = cleaned(text)
            if (kind := kind_of(told[name])) != name:
                raise RigError(f"{name}: this text is what {kind} is for")
    if not {"smi", "lspci"} & {*told}:
        raise RigError("nothing to read: paste nvidia-smi -q, or lspci -vv")
    links = read_lspci(told["lspci"]) if lspci is not None else []
    readings = [SmiReading(name=name) for name, *_ in links]
    if smi is not None:
        readings = _readings(told["smi"])
    found: list[Any] = [both for _, *both in links] or [(None, None)] * len(readings)
    if len(found) != len(readings):
        raise RigError(
            f"lspci shows {len(links)} cards, nvidia-smi {len(readings)}: paste "
            "both from one machine"
        )
    hands = [_card(one, *both) for one, both in zip(readings, found, strict=True)]
    ways = None if topo is None else read_topo(told["topo"])
    if ways is not None and len(ways.gpus) != len(hands):
        raise RigError(
            f"topo -m shows {len(ways.gpus)} GPUs, the others {len(hands)}: paste all "
            "from one machine"
        )
    return Rig(tuple(hands), ways)


def _readings(text: str) -> list[SmiReading]:
    """The cards of one log of one machine, whole."""
    if (logs := text.count(LOG)) > 1:
        raise RigError(f"{logs} logs in one text: give one, of one machine")
    if lost := re.search(r"Unable to determine the device handle.*", text):
        raise RigError(f"{lost[0]!r}: a card has left the bus; restart the machine")
    found = read_smi(text)
    said = re.search(r"Attached GPUs\s*: (\d+)", text)
    if said and int(said[1]) != len(found):
        raise RigError(f"{said[0]!r}, and {len(found)} shown: paste the whole log")
    for at, one in enumerate(found):
        if one.mig:
            raise RigError(f"card {at}, {one.name}: cut into instances (MIG); undo it")
    return found


def _card(reading: SmiReading, now: Link | None, most: Link | None) -> Card:
    if not reading.name:
        raise RigError("no name of a card: paste nvidia-smi -q as a whole")
    memory = None if reading.memory is None else reading.memory.si
    device = named_card(reading.name, memory)
    own = own_link(device)
    most = _link(reading, "_max", own) or most or own
    told = _link(reading, "", most) or now
    now = told or most
    for made, wide in (now, most):
        if made not in GENERATIONS or wide not in LANES:
            raise RigError(f"{reading.name}: no link is PCIe {made} with {wide} lanes")
    busy = None if reading.reasons is None else "Idle" not in reading.reasons
    if reading.busy is not None:
        busy = bool(reading.busy.si >= LOAD)
    clock, share = device.fields.get("clock"), None
    if reading.clock is not None and clock is not None and busy:
        share = reading.clock.si / clock.si
    limit = None if reading.power_limit is None else float(reading.power_limit.si)
    said = reading.reasons or (), told is not None
    return Card(reading.name, device, now, most, limit, busy, share, *said)


def _link(reading: SmiReading, end: str, other: Link) -> Link | None:
    """Generation and lanes as nvidia-smi tells them; None where it has no lanes."""
    lanes, made = (getattr(reading, f"{x}{end}") for x in ("lanes", "generation"))
    if lanes is None:
        return None
    return int(other[0] if made is None else made.si), int(lanes.si)

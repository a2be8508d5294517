"""The cards of a machine in their slots, as speed asks for them.

A build, a rig that stands there and a row of a published table all become ``Cards``:
devices, bytes a second of each slot, the way between the farthest two, whether boards
reach each other's memory, and the limit of power.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from stacklib import hardware
from stacklib.cost.catalogue import Component
from stacklib.hardware import Accelerator
from stacklib.interconnect.networks.pcie import GENERATIONS, LANES, WORDS, reaches, slot
from stacklib.interconnect.selection.machine import Fabric, fabric
from stacklib.interconnect.selection.topo import pcie_fabric
from stacklib.quantity import resolve

from .build import Build
from .placing import Seat, place

Link = tuple[int, int]  # generation and lanes


@dataclass(frozen=True, slots=True)
class Cards:
    """Cards in the slots of one machine.

    - ``devices``: one for each card
    - ``links``: generation and lanes of each link; one device alone needs none
    - ``path``: the word of the farthest pair; ``peer``: as ``pcie.reaches`` where None
    - ``bridged``: whether NVLinks join them all
    - ``limit``: watts of each card; its board's power where None
    """

    devices: tuple[Accelerator, ...]
    links: tuple[Link, ...] = ()
    path: str = "PHB"
    peer: bool | None = None
    bridged: bool = False
    limit: float | None = None

    def __post_init__(self) -> None:
        if not self.devices:
            raise ValueError("no card: a machine with one card at least is needed")
        resolve(self.path, WORDS, "way", exact=True)
        links = self.links
        if not links and len(self.devices) > 1:
            links = tuple(own_link(one) for one in self.devices)
        if links and len(links) != len(self.devices):
            raise ValueError(f"{len(links)} links for {len(self.devices)} cards")
        for link in links:
            slot(*link)  # raises for what no slot has
        object.__setattr__(self, "links", links)

    @property
    def alike(self) -> bool:
        """Whether all cards are of one product."""
        return len({one.key for one in self.devices}) == 1

    @property
    def reached(self) -> bool:
        """Whether every card reaches the others' memory."""
        return all(map(reaches, self.devices)) if self.peer is None else self.peer

    @property
    def slots(self) -> tuple[float, ...]:
        """Bytes a second of each slot, one way; a card takes no more than its own."""
        both = zip(self.links, self.devices, strict=False)
        return tuple(min(slot(*link), slot(*own_link(one))) for link, one in both)

    def fabric(self) -> Fabric:
        """The links between cards that are alike, for ``collective_time``."""
        many, device = len(self.devices), self.devices[0]
        if self.bridged:
            return fabric(device, many, nodes=1)
        generation, lanes = min(zip(self.slots, self.links, strict=True))[1]
        link: dict[str, Any] = {"generation": generation, "lanes": lanes}
        return pcie_fabric(device, many, path=self.path, peer=self.reached, **link)

    def swapped(self, **changes: Any) -> Cards:
        """The same cards with another link, way or limit."""
        return replace(self, **changes)


def own_link(device: Accelerator) -> Link:
    """Generation and lanes of a card's own link.

    - raises ``ValueError`` for a device that is no card
    """
    found = re.fullmatch(r"pcie(\d)_x(\d+)", device.host_link_key)
    if not found:
        raise ValueError(f"{device.name}: no card that goes into a slot")
    return int(found[1]), int(found[2])


def of_build(build: Build) -> Cards:
    """The cards of a build where they stand.

    Bridges count where one joins all cards. Cards beside the processor's root ports
    see each other over PHB; one behind a chipset makes it NODE.

    - raises ``UnknownSpec`` where a slot's lanes are unknown, and ``ValueError`` where
      a card has no slot
    """
    placed = place(build)
    if left := len(build.gpus) - len(placed.seats):
        raise ValueError(f"{left} of {len(build.gpus)} cards have no slot")
    links = tuple(link_of(seat, build.cpu) for seat in placed.seats)
    far = any(s.told("root") != "cpu" for s in placed.seats)
    joined = bool(build.bridges) and len(build.gpus) == 2
    return Cards(
        tuple(hardware.get(card.device) for card in build.gpus),
        links,
        "NODE" if far else "PHB",
        None if build.peer else False if far else None,
        joined and all("bridge" in card.values for card in build.gpus),
        build.limit,
    )


def link_of(seat: Seat, cpu: Component) -> Link:
    """Generation and lanes of a link: the least of card, slot, processor and riser."""
    made = [seat.card["generation"], seat.told("generation")]
    wide = [seat.card["lanes"], seat.told("lanes")]
    if seat.told("root") == "cpu":
        made.append(cpu["generation"])
    if seat.riser is not None:
        made.append(seat.riser["generation"])
        wide.append(seat.riser["lanes"])
    lanes = max((one for one in LANES if one <= min(wide)), default=LANES[0])
    return min(int(min(made)), GENERATIONS[-1]), lanes

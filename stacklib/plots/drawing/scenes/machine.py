"""The whole machine: what feeds what, and how fast."""

from __future__ import annotations

from stacklib.hardware import Accelerator, get, microarchitecture
from stacklib.quantity import Quantity, chosen

from ..marks import Pipe
from ..nodes import Box, Node, Nothing
from ..parts import gpu, memory
from ..picture import Drawing, draw
from ..relate import Either, below, flow, grid, right_of
from ..words import Shown, an, line


def whole_machine(
    on: str | Accelerator, lit: str = "", name: str = "whole-machine"
) -> Drawing:
    """Stacks, L2, SMs and links of a device, every arrow as wide as its bandwidth.

    ``lit`` names the part in question: ``HBM``, ``L2``, ``L1`` or ``SMs``.
    """
    device = get(on) if isinstance(on, str) else on
    full = gpu.rate_of(device, "l1")
    chip = Box(
        "die",
        line(device, ", ", device.tdp, bold=True),
        _chip(device, full, lit),
        grow=1.0,
    )
    stacks, links = _stacks(device, lit == "HBM"), _links(device, full)
    feed = Pipe("HBM", "L2", device.memory_bandwidth, full)
    foot = Nothing((0.0, links.size(False)[1]), grow=0)  # the arrow meets the die
    scene = Either(
        right_of(
            below(right_of(stacks, feed, gap=0), foot, gap=0, grow=0),
            below(chip, links, gap=0),
            gap=0,
        ),
        below(stacks, feed, chip, links, gap=0),
    )
    title = (
        f"Every byte that {an(device)} works on comes through one of these arrows; "
        "their widths are their bandwidths."
    )
    return draw(scene, name=name, title=title, devices=[device.key])


def _stacks(device: Accelerator, lit: bool) -> Box:
    stacks = gpu.count(device.memory_stacks)
    each = [
        memory.stack(device, f"stack {n}", lit) for n in "ABCDEFGHIJKLMNOP"[:stacks]
    ]
    columns = (1, stacks) if stacks <= 5 else (2, 4)
    told = [
        line("HBM", bold=True),
        (device.memory_stacks, " stacks"),
        device.memory_capacity,
    ]
    return Box("HBM", told, grid(each, columns, gap=6), role=gpu.STORE, lit=lit, grow=0)


def _chip(device: Accelerator, full: Quantity, lit: str) -> Node:
    first = microarchitecture(device).size("l1_capacity")
    all_first = Shown(
        (first * device.compute_units).named(f"{device.short} L1 of all SMs"), "MiB"
    )
    l1 = Box(
        "L1",
        [line("L1 and", bold=True), line("shared", bold=True), all_first],
        role=gpu.STORE,
        lit=lit == "L1",
    )
    on = (
        frozenset(range(gpu.count(device.compute_units)))
        if lit == "SMs"
        else frozenset()
    )
    cells = gpu.sms(device, (11, 22), lit=on)
    units = Box("lanes", [(device.compute_units, " SMs")], cells, lit=lit == "SMs")
    return flow(
        gpu.l2(device, lit == "L2"),
        _feed(device, "L2", "L1", full),
        l1,
        _feed(device, "L1", "SMs", full),
        units,
        gap=0,
    )


def _feed(device: Accelerator, start: str, end: str, full: Quantity) -> Pipe:
    """What all SMs draw from a level, on its way."""
    rate = gpu.rate_of(device, start.lower())
    return Pipe(start, end, rate, full, Shown(rate, level=start.lower()))


def _links(device: Accelerator, full: Quantity) -> Node:
    others = (device.link_domain - chosen(1, label="itself")).named("other devices")
    peers = Box("peers", [(others, " other GPUs")], role="layer-5")
    host = Box("host", "host", role="layer-5")
    ports = (
        _port(
            "die",
            "peers",
            "NVLink" if device.vendor == "NVIDIA" else "links",
            device.link,
            full,
            peers,
        ),
        _port("die", "host", "PCIe", device.host_link, full, host),
    )
    return right_of(*ports, even=True, grow=0)


def _port(
    start: str, end: str, words: str, rate: Quantity, full: Quantity, box: Box
) -> Node:
    pipe = Pipe(
        start,
        end,
        rate,
        full,
        [words, rate],
        both=True,
        down=(True, True),
        role="layer-5",
        least=36.0,
    )
    return below(pipe, box, gap=0)

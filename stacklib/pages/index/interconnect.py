"""The map of chapter 6: from the lanes of a link to a cluster at work."""

from __future__ import annotations

from stacklib import hardware
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import machine

from .sections import DEVICE, DOWN, cells, group, section


def interconnect_map() -> d.Drawing:
    """Chapter 6: from the lanes of a link to a cluster at work."""
    job = [
        section("6.12", "tokens to experts", "layer-6"),
        section("6.13", "shares of a model", "layer-3"),
        section("6.14", "a pipeline", "layer-6"),
        section("6.15", "the layout", "layer-7"),
    ]
    port = hardware.link("ib_ndr").per_direction
    out = ["a GPU's", d.Shown(port, "GB/s")]
    rack = section("6.6", "a rack that is one machine", "layer-1", _node())
    way = group(
        "the way out",
        "muted",
        section("6.10", "who rings", "layer-4", cells("ring", 8, {3, 4})),
        section("6.11", "light", "layer-6"),
        section("6.5", "your own wires", "layer-1"),
    )
    inside = hardware.link("nvlink4").per_direction
    wires = d.flow(
        rack,
        d.Pipe("section 6.6", "the way out", port, inside, out, both=True),
        way,
        then("the way out", "switches"),
        _switches(),
        gap=2,
    )
    parts = d.below(group("what a model sends", "muted", d.grid(job, (4, 2))), wires)
    told = "a cluster at work, and what fails in it"
    cluster = section("6.16", told, "layer-7", parts)
    scene = d.below(cluster, d.Words([(d.Name("6.17"), ": the token crosses")]))
    title = "Chapter six: from the lanes of a link to a cluster that is one machine."
    return d.draw(scene, name="map-interconnect", title=title, devices=[DEVICE])


def _node() -> d.Node:
    """Eight GPUs, and what passes over the links between them."""
    rate = hardware.link("nvlink4").per_direction
    boards = hardware.get(DEVICE).link_domain.named("GPUs of a node")
    links = [
        section("6.1", "lanes of a link", "layer-5", cells("lanes", 4, {0, 1})),
        section("6.2", "a sum over it", "layer-5", cells("chunks", 8, {2})),
        section("6.3", "in fewest steps", "layer-3"),
        section("6.4", "by which algorithm", "layer-4"),
    ]
    return d.below(
        machine.boards(boards),
        d.Pipe("boards", "links", rate, rate * 2, both=True, down=DOWN, least=34.0),
        d.grid(links, (2, 1)),
    )


def _switches() -> d.Node:
    """A tree of switches, a port of one, and the other way to join chips."""
    tiers = (cells("spines", 2, {0}), cells("leaves", 4, {1}))
    return group(
        "switches",
        "layer-5",
        section("6.7", "racks joined", "layer-5", d.below(*tiers, gap=4)),
        section("6.9", "a queue at a port", "layer-2", cells("frames", 6, {3, 4, 5})),
        section("6.8", "or a torus", "layer-5", cells("torus", 16, {0, 3, 12}, 4)),
    )

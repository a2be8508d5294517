"""The map of chapter 8: who asks, the engine that admits them, and the whole price."""

from __future__ import annotations

from stacklib import hardware
from stacklib.plots import drawing as d
from stacklib.plots.drawing.marks import then
from stacklib.plots.drawing.parts import memory

from .sections import DEVICE, DOWN, cells, group, section


def serving_map() -> d.Drawing:
    """Chapter 8: who asks, the engine that admits them, and what it all costs."""
    device = hardware.get(DEVICE)
    fits = section("8.1", "will it fit?", "layer-7")
    price = section("8.2", "what will a token cost?", "layer-7")
    agent = section("8.11", "who asks in turns", "layer-7")
    line = section("8.8", "who waits in line", "layer-6", cells("line", 8, {5, 6, 7}))
    slots = cells("slots", 8, {0, 1, 2, 4, 5}, 4)
    who = section("8.5", "who is in the next step", "layer-6", slots)
    guess = section("8.7", "guessed, then checked", "layer-3", cells("draft", 5, {0}))
    engine = group("the engine", "layer-4", d.flow(who, guess))
    where = section("8.3", "where a token goes", "layer-2", cells("pool", 8, {1, 5}, 4))
    found = section("8.4", "a prefix found", "layer-2", cells("prefix", 8, {0, 1}, 4))
    pool = group("blocks of the KV cache", "layer-2", d.flow(where, found))
    stacks = d.right_of(*[memory.stack(device, f"stack {n}") for n in "ABCDE"], grow=0)
    chip = group("GPU memory", "layer-2", pool, stacks)
    link = device.host_link
    far = section("8.6", "host memory, drives", "layer-5", cells("tiers", 8, {3, 4}))
    pools = section("8.9", "one pool or two", "layer-5", cells("two pools", 4, {0}))
    layout = section("8.10", "which machine, which layout", "layer-5")
    bill = section("8.12", "a million tokens in dollars", "layer-7")
    fleet = group("many of these", "layer-5", d.flow(pools, layout, bill))
    token = section("8.13", "a token among others, and its cents", "layer-7")
    scene = d.below(
        d.flow(fits, price),
        then("section 8.1", "section 8.11", down=DOWN),
        d.flow(agent, line),
        then("section 8.11", "the engine", down=DOWN),
        engine,
        then("the engine", "GPU memory", down=DOWN),
        chip,
        d.Pipe("GPU memory", "section 8.6", link, link * 3, both=True, down=DOWN),
        far,
        then("section 8.6", "many of these", down=DOWN),
        fleet,
        then("many of these", "section 8.13", down=DOWN),
        token,
        gap=3,
    )
    title = "Chapter eight: requests share one model and its memory."
    return d.draw(scene, name="map-serving", title=title, devices=[DEVICE])

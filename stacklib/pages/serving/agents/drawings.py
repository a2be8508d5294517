"""Drawings of section 8.11: who works in a session, and what waits for what."""

from __future__ import annotations

from itertools import pairwise

from stacklib.pages.kernels.feed.drawings import Lane, Span
from stacklib.pages.serving import agents as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.quantity import chosen
from stacklib.serving.agentic.order import longest, ordered
from stacklib.serving.agentic.session import WHOSE, Session

__all__ = ["longest_path", "waterfall"]
# The graph of the page's loop, and where its steps stand on the wide canvas.
SECONDS = {"plan": 4, "search": 1, "read": 3, "test": 11, "review": 6, "answer": 5}
AFTER = {"search": ["plan"], "read": ["search"], "test": ["plan"], "review": ["read"]}
AFTER |= {"answer": ["test", "review"]}
SPOTS = {"plan": (0, 0.5), "search": (0.25, 0), "read": (0.5, 0), "test": (0.5, 1)}
SPOTS |= {"review": (0.75, 0), "answer": (1, 0.5)}
TESTS = {"as it is": 11, "a quicker test": 9, "hardly a test": 1}
# Lanes: who works, the waits that are its own, and their colours.
LANES = {
    "network": {"network": ("layer-5", 0.8)},
    "GPU": {"prefill": (gpu.CHIP, 0.95), "decode": (gpu.CHIP, 0.45)},
    "CPU": {"tools": ("layer-6", 0.95)},
}


def longest_path() -> d.Drawing:
    """The steps of a session and what waits for what; lit, the longest path."""
    frames = [(words, _graph(test)) for words, test in TESTS.items()]
    title = "A session lasts as long as the longest path along its arrows."
    return d.draw(frames, name="agents-path", title=title, devices=[page.DEVICE])


def _graph(test: int) -> d.Node:
    seconds = {
        name: chosen(test if name == "test" else took, "s", label=f"{name}, drawn")
        for name, took in SECONDS.items()
    }
    waits = [(one, name) for name, before in AFTER.items() for one in before]
    total, path = longest(ordered(SECONDS, waits), seconds)
    on = set(pairwise(path))
    boxes = {}
    for name, took in seconds.items():
        role = "layer-6" if name == "test" else gpu.CHIP
        boxes[name] = d.Box(name, [name, took], role=role, lit=name in path, grow=0)
    edges = [
        d.Edge(*pair, arrow="end", role="layer-6", lit=pair in on) for pair in waits
    ]
    placed = [(boxes[name], spot) for name, spot in SPOTS.items()]
    phone = [(y, x) for x, y in SPOTS.values()]
    scene = d.joined(d.board(*placed, phone=phone, gap=18), *edges)
    work = sum(seconds.values(), chosen(0, "s", label="none")).named("work, drawn")
    lasts = total.named("longest path, drawn")
    told = d.line("it lasts ", lasts, ", its steps take ", work, bold=True)
    return d.below(scene, d.Words([told]), gap=8)


def waterfall() -> d.Drawing:
    """Who works while the session waits, as told and on the running case's chips."""
    title = "A session of five turns: nearly all of it is a GPU that writes."
    held = {"as a document adds it up": False, "on eight H100s, alone": True}
    parts = [_session(words, ours) for words, ours in held.items()]
    scene = d.below(*parts, gap=12)
    return d.draw(scene, name="agents-session", title=title, devices=[page.DEVICE])


def _session(words: str, ours: bool) -> d.Node:
    found = page.on_ours() if ours else page.as_told()
    lanes = [_lane(f"{name}, {words}", found, own) for name, own in LANES.items()]
    times = [(what, page.waited(what, ours)) for what in WHOSE]
    told = [
        d.line(f"{page.WORDS[what]}: ", d.Shown(time, "s"), role="muted")
        for what, time in times
    ]
    pairs = d.flow(*(d.Words([one], "start") for one in told), gap=10)
    head = d.line(f"{words}: ", d.Shown(page.total(ours), "s"), bold=True)
    return d.Box(words, [head], d.below(*lanes, pairs, gap=5), role="layer-6")


def _lane(name: str, found: Session, own: dict[str, tuple[str, float]]) -> d.Node:
    spans: list[Span] = [
        (part.start, part.start + part.time.si, *own[part.what])
        for part in found.parts
        if part.what in own
    ]
    return Lane(name, tuple(spans), page.total().si, name.partition(",")[0])

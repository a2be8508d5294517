"""The drawing of section 8.11: who works in a session, and when."""

from __future__ import annotations

from stacklib.pages.kernels.feed.drawings import Lane, Span
from stacklib.pages.serving import agents as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import gpu
from stacklib.serving.agentic.session import WHOSE, Session

__all__ = ["waterfall"]
# Lanes: who works, the waits that are its own, and their colours.
LANES = {
    "network": {"network": ("layer-5", 0.8)},
    "GPU": {"prefill": (gpu.CHIP, 0.95), "decode": (gpu.CHIP, 0.45)},
    "CPU": {"tools": ("layer-6", 0.95)},
}


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

"""Drawings of section 1.8: the machine round the token, a layer in time, the stack."""

from stacklib.pages.roofline import journey as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.journey.events import PER_LAYER, Event

__all__ = ["a_layer_in_time", "down_the_stack", "where_the_token_is"]
SHORT = {
    "attention weights are read": "attention weights, read",
    "keys and values so far are read": "keys and values, read",
    "its own key and value are written": "its own key and value, written",
    "attention is computed": "attention, computed meanwhile",
    "the chips add up, after attention": "the chips add up",
    "MLP weights are read": "MLP weights, read",
    "the MLP is computed": "MLP, computed meanwhile",
    "the chips add up, after the MLP": "the chips add up again",
}
LAYERS = {
    6: "serving: tokens wait in a queue",
    5: "interconnect: the chips add up",
    4: "kernels: launches between them",
    3: "chip: the arithmetic, meanwhile",
    2: "memory: weights and cache are read",
    1: "silicon: what all of it is made of",
}


def where_the_token_is() -> d.Drawing:
    """A chip, its board, its node, its rack."""
    return scenes.chip_to_rack(page.DEVICE, name="journey-machine")


def a_layer_in_time() -> d.Drawing:
    """The events of one layer on one line of time."""
    scene = d.below(*layer_clips(), gap=10)
    title = "Inside a layer the chips read; the arithmetic hides under the reading."
    return d.draw(scene, name="journey-layer", title=title, devices=[page.DEVICE])


def layer_clips() -> list[d.Clip]:
    """One clip an event; what is done meanwhile begins where the reading does."""
    own = [e for e in page.trip().layer_events[:PER_LAYER] if e.time is not None]
    begun = free = chosen(0, "s", "begin")
    clips = []
    for event in own:
        assert event.time is not None
        if not event.under:
            begun, free = free, (free + event.time).named("end of an event")
        clips.append(_clip(event, begun, page.layer_time()))
    return clips


def _clip(event: Event, begun: Quantity, whole: Quantity) -> d.Clip:
    assert event.time is not None
    end = (begun + event.time).named(f"end of: {event.what}")
    takes = event.time.named(f"time of: {event.what}")
    told = (f"{SHORT[event.what]}: ", d.Shown(takes, "ns" if takes.si < 1e-7 else "µs"))
    role = f"layer-{event.layer}"
    return d.Clip(event.what, begun, end, whole, [told], role=role, grow=0)


def down_the_stack() -> d.Drawing:
    """The layers of the stack, each with its part of the token's trip."""
    rows: list[d.Node] = []
    for layer, words in LAYERS.items():
        inside = _share(layer)
        told = d.line(words, bold=True)
        rows.append(d.Box(f"layer of {words}", told, inside, role=f"layer-{layer}"))
    scene = d.below(*rows, gap=6)
    title = "One layer of the stack has the token nearly all the time: memory."
    return d.draw(scene, name="journey-stack", title=title, devices=[page.DEVICE])


def _share(layer: int) -> d.Node:
    """A clip of the layer's time; words where it has none yet."""
    times = [e.all("time") for e in page.trip().events if e.layer == layer]
    known = [time for time in times if time is not None]
    if not known:
        return d.Words("no time yet")
    time = sum(known[1:], known[0]).named(f"time in layer {layer} of the stack")
    zero = chosen(0, "s", "begin")
    took = d.Shown(time, "ms" if layer == 2 else "µs")
    return d.Clip(
        f"time of {layer}",
        zero,
        time,
        page.trip().time,
        [(took,)],
        grow=0,
        role=f"layer-{layer}",
    )

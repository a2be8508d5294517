"""Section 4.13: What do the kernels of a token cost?"""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.kernels.launch.launches import launch_time, replay_time
from stacklib.pages import chain
from stacklib.pages.kernels import (
    attention,
    feed,
    fusion,
    generations,
    launches,
    scaled,
)
from stacklib.pages.kernels.launches.claims import cost
from stacklib.quantity import Quantity

DEVICES = ("h100_sxm", "b200_sxm")
PROMPT = fusion.PROMPT
# ways to start a step: kernels fused, submitted as a graph
WAYS = {
    "operator by operator": (False, False),
    "fused, one by one": (True, False),
    "operators, as a graph": (False, True),
    "fused, as a graph": (True, True),
}
FASTEST = "fused, as a graph"
HERE = "04-kernels/journey"


# -- a token ---------------------------------------------------------------------------


def reading(device: str) -> Quantity:
    """Time in which each of eight devices reads its share."""
    return launches.reading(device)


def kernels(way: str) -> Quantity:
    """Kernels of a step."""
    return fusion.kernels(fused=WAYS[way][0]).named(f"kernels, {way}")


def step(way: str, device: str) -> Quantity:
    """Time of a step: what is read, and what starting the kernels adds."""
    count, graph = kernels(way), WAYS[way][1]
    each = reading(device) / count
    told: Quantity
    if graph:
        replay = {"replay_s": cost("replay", "low"), "node_s": cost("node", "low")}
        told = replay_time(count, each, **replay)
    else:
        told = launch_time(count, each, submit_s=cost("eager", "low"))
    return told.named(f"step, {way}, {hardware.get(device).short}")


def share(way: str, device: str) -> Quantity:
    """Share of the step in which nothing is read."""
    idle = 1 - reading(device) / step(way, device)
    return idle.named(f"share not read, {way}, {hardware.get(device).short}")


def over(way: str) -> Quantity:
    """The older device's time over the newer one's."""
    old, new = (step(way, device) for device in DEVICES)
    return (old / new).named(f"H100 over B200, {way}")


def promised() -> Quantity:
    """The same for what is read alone."""
    old, new = map(reading, DEVICES)
    return (old / new).named("H100 over B200, reading")


def line(name: str, device: str) -> Quantity:
    """A line of the token's account, as this chapter leaves it."""
    found = chain.time(HERE, name, on=device)
    return found.named(f"{name}, {hardware.get(device).short}")


def caches(device: str) -> Quantity:
    """What attention in pieces takes beyond its bytes at the full bandwidth."""
    full = chain.time("04-kernels/mla", chain.ATTENTION, after=False, on=device)
    rest = line(chain.ATTENTION, device) - full
    return rest.named(f"attention, rest, {hardware.get(device).short}")


def inside(device: str) -> Quantity:
    """Time of a token without its exchanges."""
    rest = token(device) - line(chain.EXCHANGES, device)
    return rest.named(f"a token, exchanges apart, {hardware.get(device).short}")


def token(device: str) -> Quantity:
    """Time of a token: every line that has been counted so far."""
    whole = chain.time(HERE, on=device)
    return whole.named(f"token, {hardware.get(device).short}")


def busy(device: str) -> Quantity:
    """Share of the token in which memory delivers at its full bandwidth."""
    return (reading(device) / token(device)).named(
        f"reading over token, {hardware.get(device).short}"
    )


# -- a prompt --------------------------------------------------------------------------


def prompt() -> dict[str, tuple[Quantity, Quantity]]:
    """Parts of a prompt's time on an H100: as this chapter found it, and left it."""
    return {
        "products": (feed.spent("all"), scaled.spent("product")),
        "attention": (attention.naive(), generations.prompt("fa3")),
        "norms and the like": (
            fusion.between_time(fused=False),
            fusion.between_time(fused=True),
        ),
    }


def first(*, after: bool) -> Quantity:
    """Time of the prompt on each of eight H100s, exchanges left out."""
    parts = [pair[after] for pair in prompt().values()]
    return sum(parts[1:], parts[0]).named(f"prompt, {'after' if after else 'before'}")


# -- this machine ----------------------------------------------------------------------


def here(part: str) -> Quantity:
    """A part of a step of the book's own model on this machine, predicted."""
    from stacklib.pages.models import tiny  # needs NumPy

    found = tiny.step()
    return {"calls": found.calls, "products": found.products}[part]


def here_measured() -> Quantity:
    """The step as it was measured."""
    from stacklib.pages.models import tiny
    from stacklib.pages.models.tiny.measured import run

    return run(tiny.STEP).measured


def here_share() -> Quantity:
    """Share of the predicted step that is calling, not multiplying."""
    whole = here("calls") + here("products")
    return (here("calls") / whole).named("share of calls")


def here_over() -> Quantity:
    """The step as it was measured over both parts of the prediction."""
    whole = here("calls") + here("products")
    return (here_measured() / whole).named("measured over predicted")


def rows() -> list[dict[str, Any]]:
    """Ways to start a step, and what each takes."""
    old, new = DEVICES
    return [
        {
            "kernels": way,
            "in a step": kernels(way),
            "H100": step(way, old),
            "not reading, H100": share(way, old),
            "B200": step(way, new),
            "not reading, B200": share(way, new),
        }
        for way in WAYS
    ]

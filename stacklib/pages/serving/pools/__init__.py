"""Section 8.9: One pool or two?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import cache
from typing import Any

from stacklib import hardware, models, serving
from stacklib.hardware.errors import error_band
from stacklib.kernels.schedule.pipeline import Timeline
from stacklib.pages.chain import posts
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MACHINES, MODEL, READERS, TP
from stacklib.quantity import Quantity, chosen, counted, counting, one_of, quoted
from stacklib.roofline.work.moving import moving_time
from stacklib.serving.pools import balance, turns
from stacklib.serving.simulation.pools import Pools, Turns
from stacklib.serving.simulation.results import Simulation
from stacklib.serving.simulation.setup import SERVED, served
from stacklib.serving.simulation.steps import SECOND, Estimated, Work

NEW, TTFT, REQUESTS, SEED = posts.WRITTEN, posts.FIRST, 1000, 1  # s of the second
STRICT, LOOSE = 0.02, 0.1  # s a token
LEAST, MOST = 3.0, 30.0  # requests a second that are tried
QUIET = 8.0  # requests a second, at which everybody meets the loose limit
RAILS = 8
SEATS, FULL = 12, READERS  # answers that a machine writes at once: of one pool, of two
SPARSE = "deepseek-v3"
CROSSINGS = "disagg.crossing_low", "disagg.crossing_high"
TOKENS = 256  # of a micro-batch whose activations cross
LAYOUTS: dict[str, dict[str, Any]] = {
    "one pool": {"replicas": MACHINES},
    "one pool, prompts in pieces": {"replicas": MACHINES, "scheduler": "chunked"},
    "2 read, 2 write": {"pools": {"prefill": 2, "decode": 2}},
    "3 read, 1 writes": {"pools": {"prefill": 3, "decode": 1}},
}
ONE, PIECES, EVEN, BEST = LAYOUTS


# -- a fleet, simulated ----------------------------------------------------------------


def link(name: str = "ib-ndr") -> Quantity:
    """Bytes a second out of a machine: a rail for each of its chips."""
    rail = hardware.link(name).link_bandwidth.across(1)
    return (rail * chosen(RAILS, label="rails")).named("out of a machine")


@cache
def ran(
    layout: str = ONE, rate: float = QUIET, prompt: int = CONTEXT, rails: int = RAILS
) -> Simulation:
    """So many requests a second on four machines."""
    asked = dict(LAYOUTS[layout])
    if "pools" in asked:
        out = link().si * rails / RAILS
        asked["pools"] = asked["pools"] | {"link": out}
    traffic = serving.poisson(rate, REQUESTS, prompt=prompt, new=NEW, seed=SEED)
    return serving.simulate(
        MODEL, DEVICE, traffic, tp=TP, router="least-loaded", **asked
    )


def limits(each: float = STRICT) -> dict[str, float]:
    """What an answer may take: until its first token, and for each of the others."""
    return {"ttft": TTFT, "tpot": each}


@cache
@counting(lambda on, each, *_: f"goodput, {on}, {1000 * each:g} ms", unit="1/s")
def rate(
    layout: str,
    each: float = STRICT,
    prompt: int = CONTEXT,
    factor: float = 1.0,
    rails: int = RAILS,
) -> float:
    """Requests a second of which nine in ten meet the limits."""

    def at(rate: float) -> Simulation:
        found = ran(layout, rate, prompt, rails)
        if factor == 1.0:
            return found
        return replace(found, outcome=found.again(factor=factor))

    return balance.sustained(at, limits(each), least=LEAST, most=MOST)


def over(each: float = STRICT) -> Quantity:
    """The best split's goodput over that of one pool, prompts in pieces or whole."""
    one = max((rate(name, each) for name in (ONE, PIECES)), key=lambda q: q.si)
    two = max((rate(name, each) for name in (EVEN, BEST)), key=lambda q: q.si)
    return (two / one).named(f"two pools over one, {1000 * each:g} ms")


def goodput_rows() -> list[dict[str, Any]]:
    """Goodput by layout and limit."""
    return [
        {
            "layout": name,
            "16 ms a token": rate(name, 0.016),
            "40 ms a token": rate(name, 0.04),
            "100 ms a token": rate(name, LOOSE),
        }
        for name in LAYOUTS
    ]


@counting("{of}, {layout}, {percent:g} %", unit="s")
def waited(layout: str, percent: float = 99, of: str = "itl") -> float:
    """A percentile of times at the quiet load."""
    return ran(layout).percentiles(of, [percent])[percent]


# -- balance ---------------------------------------------------------------------------


@cache
def steps() -> Any:
    """The law of a machine's steps, and what a token leaves in its cache."""
    found = served(MODEL, DEVICE, TP, 1, "bf16", None, "engine")
    assert found.step is not None
    return Estimated(found.step), found


@counting("a prompt alone", unit="s")
def reading(prompt: int = CONTEXT) -> float:
    """A step that reads a prompt and nothing else."""
    return steps()[0].mixed(Work(0, 0, ((0, prompt),), 1)) / SECOND


@counting("a step of {batch}", unit="s")
def writing(batch: int = FULL, context: int = CONTEXT, new: int = NEW) -> float:
    """A step in which so many get a token each, half way."""
    return steps()[0].decode(batch, batch * (context + new // 2))[0] / SECOND


def far() -> Quantity:
    """Steps at the far end of the estimate's band, as a factor."""
    return counted(error_band, SERVED, take="high", label="far end of the band")


def one_pool(limit: Any) -> Quantity:
    """Requests a second of one pool with so much time per token, in closed form."""
    left = 1 - writing(SEATS) / limit
    return (chosen(MACHINES, label="machines") * left / reading()).named("one pool")


def two_pools(readers: int = 3) -> Quantity:
    """Requests a second that so many machines read."""
    return (chosen(readers, label="readers") / reading()).named("two pools")


def border(readers: int = 3) -> Quantity:
    """The limit at which both are alike."""
    first = chosen(readers, label="readers") / chosen(MACHINES, label="machines")
    return (writing(SEATS) / (1 - first)).named("limit at which both are alike")


def seats(limit: float, context: int = CONTEXT) -> int:
    """Answers that one machine writes at once within a limit, 0 to 128."""
    counts = range(1, posts.SLOTS + 1)
    law = steps()[0]

    def late(count: int) -> bool:
        held = count * (context + NEW // 2)
        return bool(law.decode(count, held)[0] > limit * SECOND)

    return bisect_left(counts, True, key=late)


def readers(batch: int = FULL) -> Quantity:
    """Machines that read per one that writes, where neither waits."""
    tokens = chosen(NEW, "token", label="tokens written")
    written = chosen(batch, "token", label="a token each") / writing(batch)
    asked = chosen(CONTEXT, "token", label="tokens read")
    found = balance.readers(asked, tokens, asked / reading(), written)
    return Quantity.named(found, "machines that read per one that writes")


def crossing() -> Quantity:
    """A prompt's cache over the rails of a machine."""
    size = models.get(MODEL).kv_bytes(CONTEXT, "bf16")
    return moving_time(size, link()).named("a cache on its way")


def lmsys_nodes() -> tuple[Quantity, Quantity]:
    """Nodes that read and that write, where LMSYS measured."""
    write = quoted("lmsys_ep.writers")
    return (quoted("lmsys_ep.nodes") - write).named("nodes that read"), write


def lmsys_mix() -> Quantity:
    """Tokens written per token read that fill LMSYS's nodes."""
    first, second = lmsys_nodes()
    read, written = quoted("lmsys_ep.input"), quoted("lmsys_ep.output")
    return Quantity.named(
        balance.mix(1, 1, first * read, second * written), "written per token read"
    )


def lmsys_answer() -> Quantity:
    """Tokens of an answer that keep both of their pools full."""
    asked = quoted("lmsys_ep.asked", "a prompt")
    return (lmsys_mix() * asked * one_of("token")).named("an answer")


# -- attention here, the MLP there -----------------------------------------------------


@cache
def halves(batch: int) -> tuple[float, float]:
    """Seconds of one of two micro-batches in a layer: attention, MLP."""
    sides = Turns(steps()[0], Pools(("attention", "mlp"), (1, 1)))
    layers = models.get(MODEL).layers
    attention, mlp = sides.sides(Work(batch, batch * CONTEXT))
    return attention / layers, mlp / layers


def half(batch: int, which: int) -> Quantity:
    """The same as a number of the page."""
    name = ("attention", "MLP")[which]
    return counted(
        halves, batch, unit="s", take=f"[{which}]", label=f"{name} of a layer"
    )


def turns_ran(batch: int, cross: str = CROSSINGS[0], many: int = 2) -> Timeline:
    """A step of two machines in turns, event by event."""
    layers = models.get(MODEL).layers
    return turns.run_turns(*halves(batch), quoted(cross).si, layers, many)


@counting("{side} busy, {batch}, {many}")
def busy(batch: int, side: str = "mlp", many: int = 2) -> float:
    """Share of a step in which a side works."""
    return turns_ran(batch, many=many).busy(side)


def taken_in_turns(batch: int) -> Quantity:
    """Share of the time in which one machine that does both is at its MLPs."""
    attention, mlp = half(batch, 0), half(batch, 1)
    return (mlp / (attention + mlp)).named(f"MLP's share in one machine, {batch}")


def layers() -> Quantity:
    """Layers of the sparse model."""
    return models.get(SPARSE).size("layers", "layers")


def crossed(cross: str = CROSSINGS[0]) -> Quantity:
    """What a token spends on the way between the sides of a sparse model."""
    found = turns.crossings(layers(), quoted(cross, "a crossing"))
    return Quantity.named(found, "crossings of a token")


def activations(tokens: int = TOKENS) -> Quantity:
    """One crossing over NVLink: activations of so many tokens, and the latency."""
    port, way = hardware.get(DEVICE).link, hardware.link("nvlink4")
    width = models.get(SPARSE).size("hidden", "hidden size")
    size = width * chosen(tokens, label="tokens") * chosen(2, "B", label="bytes")
    return (moving_time(size, port) + way.latency).named(f"a crossing of {tokens}")


def rows_to_compute() -> Quantity:
    """Tokens at which the MLP's products take as long as reading its weights."""
    chip = hardware.get(DEVICE)
    ridge = chip.peak("bf16").across(1) / chip.memory_bandwidth.across(1)
    each = 2 * one_of("FLOP") / chosen(2, "B", label="bytes of a weight")
    return (ridge / each).to("").named("tokens that fill the cores")

"""What each section does to the token's account: the lines it lights and replaces.

``POSTS`` is in the order of the book. A section's foot is the next one's head, because
both are what the posts up to there make of one account.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stacklib import serving
from stacklib.quantity.constants import case
from stacklib.serving.token.account import LAUNCHES
from stacklib.serving.token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from stacklib.serving.token.work import EXCHANGES, HOST, SAMPLING

MODEL, DEVICE, OTHER = "llama-3-70b", "h100_sxm", "b200_sxm"
TP, CONTEXT, READERS = case("chips"), case("context"), case("readers")
LONG, MILLION, BLOCK = case("long"), case("million"), case("block")
OUTLET = case("outlet")  # V
ANSWER, WRITTEN, STEP, DRAWN = map(case, ("answer", "written", "step", "drawn"))
MACHINES, SLOTS, FIRST = case("machines"), case("slots"), case("first")
TOKEN, PROMPT = "a token", "a prompt"
READ, WEIGHTS = (PRODUCTS, ATTENTION, HEAD), (PRODUCTS, HEAD)
KERNELS = (NORMS, LAUNCHES, SAMPLING)
Put = Callable[[str], Any]  # a line or its seconds, on a device


@dataclass(frozen=True, slots=True)
class Post:
    """The lines that a section is about, and what it replaces some of them by."""

    lit: tuple[str, ...]
    puts: Mapping[str, Put] = field(default_factory=dict)
    case: str = TOKEN


def lines(*names: str, tp: int = TP, **asked: Any) -> dict[str, Put]:
    """Lines as ``serving.account`` has them."""
    given: dict[str, Any] = {"dtype": "bf16", "context": CONTEXT} | asked

    def put(name: str) -> Put:
        return lambda on: serving.account(MODEL, on, tp=tp, **given)[name]

    return {name: put(name) for name in names}


def weights(dtype: str) -> dict[str, Put]:
    """The lines of weights in another format; the cache stays as it is."""
    return lines(*WEIGHTS, dtype=dtype, kv_dtype="bf16")


def only(name: str, seconds: Callable[[], Any]) -> dict[str, Put]:
    """Seconds that a section has for H100s alone."""

    def put(on: str) -> Any:
        if on != DEVICE:
            raise ValueError(f"on = {on!r}: {name} is counted on {DEVICE} alone here")
        return seconds()

    return {name: put}


# -- what sections find, by their pages ------------------------------------------------


def _of_two(on: str) -> str:
    if on not in (DEVICE, OTHER):
        raise ValueError(f"on = {on!r}: exchanges are counted on {DEVICE} and {OTHER}")
    return on


def _one_step(on: str) -> Any:
    from stacklib.pages.roofline import journey

    return journey.all_exchanges(on)


def _unfused(on: str) -> Any:
    from stacklib.pages.kernels import journey

    return journey.step("operators, as a graph", on) - journey.reading(on)


def _bytes_alone(on: str) -> Any:
    from stacklib.pages.interconnect import links

    return links.exchange({DEVICE: "nvlink4", OTHER: "nvlink5"}[_of_two(on)])


def _ring() -> Any:
    from stacklib.pages.interconnect import collectives

    return collectives.token("ring")


def _fewest() -> Any:
    from stacklib.pages.interconnect import best

    return best.exchange()


def _products(what: str) -> Callable[[], Any]:
    def seconds() -> Any:
        from stacklib.pages.kernels import feed, scaled

        return scaled.spent("product") if what == "fp8" else feed.spent(what)

    return seconds


def _attention(version: str) -> Callable[[], Any]:
    def seconds() -> Any:
        from stacklib.pages.kernels import attention, generations

        return attention.naive() if not version else generations.prompt(version)

    return seconds


def _between() -> Any:
    from stacklib.pages.kernels import fusion

    return fusion.between_time(fused=True)


def _sums() -> Any:
    from stacklib.pages.interconnect import selection

    return selection.prompt()


def _narrow_cache(on: str) -> Any:
    from stacklib.pages.quantizers import kv

    put = lines(ATTENTION, kv_dtype=kv.stored_bits(4), mode="calibrated")
    return put[ATTENTION](on)


def _of_a_token(name: str) -> Callable[[], Any]:
    def seconds() -> Any:
        from stacklib.pages import chain

        return chain.time("08-serving/tiers", name, after=False)

    return seconds


def _fetched() -> Any:
    from stacklib.pages.serving import tiers

    return tiers.fetched("host")


def _between_layers(on: str, model: str = MODEL) -> Any:
    asked: dict[str, Any] = {"dtype": "bf16", "tp": TP, "context": CONTEXT}
    parts = serving.estimate(model, on, **asked).parts
    return next(line for line in parts if line.name == HOST)


def _lost_by_both(on: str) -> Any:
    from stacklib.pages.serving import speculation as page

    large, small = (_between_layers(on, name).time for name in (MODEL, page.DRAFT))
    return (large + page.drafted() * small) / page.tokens()


def _drafted() -> dict[str, Put]:
    def put(name: str) -> Put:
        def per_token(on: str) -> Any:
            from stacklib.pages.serving import speculation

            return speculation.per_token(name, on)

        return per_token

    each = {name: put(name) for name in (*READ, *KERNELS, EXCHANGES)}
    return each | {HOST: _lost_by_both}


def _in_the_fleet() -> dict[str, Put]:
    def put(name: str) -> Put:
        def among_others(on: str) -> Any:
            from stacklib.pages.serving import journey

            return journey.line(name, on)

        return among_others

    return {name: put(name) for name in (*READ, *KERNELS, EXCHANGES, HOST)}


# What a case is before its first section: a token computes, and a prompt is as three
# kernels for its attention, at the dense peak, leave it.
START = {
    TOKEN: {},
    PROMPT: only(PRODUCTS, _products("peak"))
    | only(ATTENTION, _attention(""))
    | only(NORMS, _between),
}
POSTS: dict[str, Post] = {
    "01-roofline/decode": Post(READ, lines(*READ)),
    "01-roofline/counting": Post(READ),
    "01-roofline/roofline": Post(READ),
    "01-roofline/this-machine": Post(READ),
    "01-roofline/cores": Post(READ),
    "01-roofline/scaling": Post((EXCHANGES,), {EXCHANGES: _one_step}),
    "01-roofline/timing": Post(READ),
    "01-roofline/journey": Post(READ),
    "02-gpu/hierarchy": Post(READ),
    "02-gpu/simt": Post(READ),
    "02-gpu/schedule": Post(READ),
    "02-gpu/compile": Post(READ),
    "02-gpu/tensor-cores": Post(READ),
    "02-gpu/silicon": Post(READ),
    "02-gpu/package": Post(READ),
    "02-gpu/journey": Post(READ),
    "03-memory/ladder": Post(READ),
    "03-memory/coalescing": Post(READ),
    "03-memory/banks": Post(READ),
    "03-memory/caches": Post(READ),
    "03-memory/tiling": Post(READ),
    "03-memory/scratchpad": Post(READ),
    "03-memory/hbm": Post(READ),
    "03-memory/dram": Post(READ),
    "03-memory/tiers": Post(READ),
    "03-memory/price": Post(READ),
    "03-memory/journey": Post(READ),
    "04-kernels/launches": Post((LAUNCHES,), {LAUNCHES: _unfused}),
    "04-kernels/fusion": Post((LAUNCHES,), lines(LAUNCHES)),
    "04-kernels/norms": Post((NORMS,), lines(NORMS)),
    "04-kernels/feed": Post((PRODUCTS,), only(PRODUCTS, _products("all")), PROMPT),
    "04-kernels/attention": Post(
        (ATTENTION,), only(ATTENTION, _attention("fa2")), PROMPT
    ),
    "04-kernels/generations": Post(
        (ATTENTION,), only(ATTENTION, _attention("fa3")), PROMPT
    ),
    "04-kernels/mla": Post((ATTENTION,), lines(ATTENTION, mode="calibrated")),
    "04-kernels/scaled": Post((PRODUCTS,), only(PRODUCTS, _products("fp8")), PROMPT),
    "04-kernels/experts": Post((PRODUCTS,), case=PROMPT),
    "04-kernels/sampling": Post((HEAD, SAMPLING), lines(SAMPLING)),
    "04-kernels/search": Post((PRODUCTS,)),
    "04-kernels/choose": Post((LAUNCHES,)),
    "04-kernels/journey": Post(KERNELS),
    "05-accelerators/rent": Post(READ),
    "05-accelerators/array": Post((PRODUCTS,)),
    "05-accelerators/gates": Post((PRODUCTS,)),
    "05-accelerators/sram": Post(READ),
    "05-accelerators/engines": Post((PRODUCTS,)),
    "05-accelerators/packets": Post((PRODUCTS,)),
    "05-accelerators/bytes": Post((ATTENTION,)),
    "05-accelerators/wiring": Post(WEIGHTS),
    "05-accelerators/leaving": Post(READ),
    "05-accelerators/journey": Post(READ),
    "06-interconnect/links": Post((EXCHANGES,), {EXCHANGES: _bytes_alone}),
    "06-interconnect/collectives": Post((EXCHANGES,), only(EXCHANGES, _ring)),
    "06-interconnect/best": Post((EXCHANGES,), only(EXCHANGES, _fewest)),
    "06-interconnect/selection": Post(
        (EXCHANGES,), lines(EXCHANGES, software="library")
    ),
    "06-interconnect/wires": Post((EXCHANGES,)),
    "06-interconnect/racks": Post((EXCHANGES,)),
    "06-interconnect/fabrics": Post((EXCHANGES,)),
    "06-interconnect/torus": Post((EXCHANGES,)),
    "06-interconnect/lossless": Post((EXCHANGES,)),
    "06-interconnect/rdma": Post((EXCHANGES,)),
    "06-interconnect/optics": Post((EXCHANGES,)),
    "06-interconnect/experts": Post((EXCHANGES,)),
    "06-interconnect/sharding": Post((EXCHANGES,)),
    "06-interconnect/pipelines": Post((EXCHANGES,)),
    "06-interconnect/layouts": Post((EXCHANGES,)),
    "06-interconnect/failures": Post((EXCHANGES,)),
    "06-interconnect/journey": Post((EXCHANGES,), lines(EXCHANGES)),
    "07-quantizers/formats": Post(READ, weights("fp8_128x128")),
    "07-quantizers/integers": Post(READ, weights("int8_channel")),
    "07-quantizers/blocks": Post(READ, weights("nvfp4")),
    "07-quantizers/weights": Post(READ, weights("int4_g128")),
    "07-quantizers/files": Post(READ, weights("q4_k_m")),
    "07-quantizers/decode": Post(READ, weights("int4_g128")),
    "07-quantizers/kv": Post((ATTENTION,), {ATTENTION: _narrow_cache}),
    "07-quantizers/training": Post(READ),
    "07-quantizers/quality": Post(READ),
    "07-quantizers/journey": Post(
        READ, weights("nvfp4") | lines(ATTENTION, mode="calibrated")
    ),
    "08-serving/fits": Post(READ, weights("bf16")),
    "08-serving/estimate": Post(
        (HOST,),
        lines(*READ, *KERNELS, mode="calibrated") | {HOST: _between_layers},
    ),
    "08-serving/blocks": Post((ATTENTION,)),
    "08-serving/prefix": Post((PRODUCTS, ATTENTION), case=PROMPT),
    "08-serving/batching": Post(READ),
    "08-serving/tiers": Post(
        (PRODUCTS, ATTENTION, HOST),
        only(PRODUCTS, _of_a_token(PRODUCTS))
        | only(ATTENTION, _of_a_token(ATTENTION))
        | only(NORMS, _of_a_token(NORMS))
        | only(HOST, _fetched),
        PROMPT,
    ),
    "08-serving/speculation": Post(READ, _drafted()),
    "08-serving/queue": Post(READ),
    "08-serving/pools": Post(READ),
    "08-serving/layouts": Post(READ),
    "08-serving/agents": Post(READ),
    "08-serving/price": Post(READ),
    "08-serving/journey": Post(READ, _in_the_fleet()),
    "09-diy/budget": Post(READ),
    "09-diy/parts": Post(READ),
    "09-diy/rig": Post((EXCHANGES,)),
    "09-diy/watts": Post(READ),
    "09-diy/hand": Post(WEIGHTS),
    "09-diy/fpga": Post((PRODUCTS,)),
    "09-diy/tapeout": Post((PRODUCTS,)),
    "09-diy/home": Post(READ),
    "10-frontier/binding": Post(READ),
    "10-frontier/next": Post(READ),
    "10-frontier/multiply": Post((PRODUCTS, EXCHANGES)),
    "10-frontier/layout": Post((PRODUCTS,)),
    "10-frontier/supply": Post(READ),
    "10-frontier/bitline": Post(WEIGHTS),
    "10-frontier/bets": Post(READ),
    "10-frontier/journey": Post(READ),
}

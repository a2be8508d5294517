"""Section 10.3: Do gains multiply?"""

from __future__ import annotations

import json
import math
import random
from functools import cache
from operator import attrgetter
from typing import Any

from stacklib import hardware, serving
from stacklib.cost.spans import Span
from stacklib.evidence import results
from stacklib.evidence.runs import foretold
from stacklib.frontier import codesign, factors
from stacklib.frontier.factor_tree import drawn, generation, thirty
from stacklib.frontier.joint import Result
from stacklib.frontier.moe_layer import NODES, SPACE, START, parts
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, OTHER, TP
from stacklib.pages.figures_of import claimed
from stacklib.quantity import Quantity, Source, chosen, counting
from stacklib.serving.token.shape import PRODUCTS

DRAFT = (0.7, 4, "llama-3.2-1b")  # what section 8.9 lets it write
NONE = "no draft"
SMALL = {"format": ("bf16", "fp4"), "experts": (1, 4), "network": (NODES, "switch")}
TOKEN = {
    "chip": (DEVICE, OTHER),
    "weights": ("bf16", "fp8", "nvfp4"),
    "draft": (NONE, DRAFT[2]),
}
PAIRS = (
    "experts and network",
    "format and network",
    "tile and format",
    "format and experts",
)
FOUR = [(weights, tp) for weights in ("bf16", "fp8") for tp in (TP // 2, TP)]
DRAWS = 20_000
FORETOLD, SEEN = "benchmarks/predictions/codesign.json", "2026-11-29"
ROWS = {  # of the experiment's record: what each is called
    "tile": "tile alone",
    "format": "format alone",
    "experts": "experts alone",
    "network": "network alone",
    "product": "the four multiplied",
    "joint": "all four chosen together",
    "ratio": "together over multiplied",
    "greedy_loss": "worst order of the axes, loss",
}


# -- thirty, as a tree -----------------------------------------------------------------


@cache
def told(once: bool = False) -> Span:
    """Thirty by its factors, FP4 where it is told or once."""
    return factors(thirty(once=once))


@counting("draws of the tree that reach {goal}")
def reaching(goal: float = 30.0, once: bool = False) -> float:
    """Share of many draws, each factor evenly on a log scale."""
    tree, dice = thirty(once=once), random.Random(0)
    return sum(drawn(tree, dice) >= goal for _ in range(DRAWS)) / DRAWS


def silicon() -> Quantity:
    """The chip's factor in a format that both generations have."""
    return factors(thirty(once=True)["chip"]).low.named("the chip in one format")


def leap() -> Quantity:
    """What crossing layers is said to add to a product of eight."""
    return claimed("codesign-leapfrog-8-to-100")


def sheets(once: bool = False) -> Quantity:
    """The three factors by two data sheets, dense; the chip's in FP4, or in FP8."""
    old, new = (hardware.get(key) for key in (DEVICE, OTHER))
    chip = new.peak("fp8" if once else "fp4") / old.peak("fp8")
    links = generation(OTHER, DEVICE)["link"].low
    return (chip * links * (new.peak("fp4") / new.peak("fp8"))).named("by data sheets")


# -- the layer of experts, and the token -----------------------------------------------


def token(chip: str = DEVICE, weights: str = "bf16", draft: str = NONE) -> Quantity:
    """Seconds of the token alone on eight chips."""
    found = serving.estimate(
        MODEL,
        chip,
        weights,
        tp=TP,
        context=CONTEXT,
        draft=None if draft == NONE else DRAFT,
    )
    return found.tpot.named(f"a token: {chip}, {weights}, {draft}")


@cache
def design(space: str = "layer") -> Result:
    """One of the searched spaces: ``layer``, ``small``, ``token``, or two axes."""
    if space == "token":
        return codesign(TOKEN, lambda point: token(**point))
    axes = {"layer": SPACE, "small": SMALL}.get(space)
    return codesign(axes or {name: SPACE[name] for name in space.split(" and ")})


@counting("{of}, {space}")
def found(of: str, space: str = "layer") -> float:
    """A number of the result: ``gain``, ``product``, ``best.paid``, ..."""
    return float(attrgetter(of)(design(space)))


@counting("gain of {axis} alone, {space}")
def alone(axis: str, space: str = "layer") -> float:
    """One axis moved to its best."""
    return design(space).alone[axis].gain


@counting("a token, {axis} alone moved", unit="s", family="E_decode")
def token_by(axis: str) -> float:
    """The token with one of its axes at its best."""
    return design("token").alone[axis].seconds


@counting("best time, {space}", unit="s")
def best(space: str = "layer") -> float:
    """Of all points."""
    return design(space).best.seconds


def promised() -> Quantity:
    """The token's time by the product of its gains, each alone."""
    return (token() / found("product", "token")).named("a token, gains multiplied")


@counting("{what}: {point}", unit="s")
def spent(what: str, point: dict[str, Any]) -> float:
    """Products or exchange of the layer, at a point."""
    return parts({**START, **point})[("products", "exchange").index(what)]


def line(chip: str = DEVICE, weights: str = "bf16", name: str = PRODUCTS) -> Quantity:
    """A line of that token's account, without a draft."""
    account = serving.estimate(MODEL, chip, weights, tp=TP, context=CONTEXT).parts
    time: Quantity = next(part.time for part in account if part.name == name)
    return time.named(f"{name}, {chip}, {weights}")


def same_part() -> dict[str, Quantity]:
    """Chip and format on one part: the share, both gains, together over multiplied."""
    a = (line() / token()).named("share of the products")
    x = (line() / line(OTHER)).named("what the chip does to it")
    y = (line() / line(weights="nvfp4")).named("what the format does to it")
    b = (1 - a).named("share of all else")
    t = (a / (x * y) + b).named("time of both")
    closed = (1 - a * b * (1 - 1 / x) * (1 - 1 / y) / t).named("closed form")
    return {"a": a, "b": b, "x": x, "y": y, "t": t, "closed": closed}


def both() -> Quantity:
    """The same by four estimates."""
    alone = (token() / token(OTHER)) * (token() / token(weights="nvfp4"))
    return (token() / token(OTHER, "nvfp4") / alone).named("the same, estimated")


def on_a_node(weights: str, tp: int) -> Quantity:
    """The token alone on a node of H100s, or on a part of it."""
    time = serving.estimate(MODEL, DEVICE, weights, tp=tp, context=CONTEXT).tpot
    return time.named(f"{weights} on {tp} chips")


def tonight() -> list[Quantity]:
    """Twice the chips, FP8, and both, as gains: what a renter can run."""
    start, *times = (on_a_node(*point) for point in FOUR)
    names = ("twice the chips", "FP8", "both")
    return [(start / t).named(n) for t, n in zip(times, names, strict=True)]


@counting("both over the product, steps {off} of one longer")
def together(off: float) -> float:
    """As if all that the account of a step misses were a pause in each."""
    more = off * on_a_node("bf16", TP).si
    start, chips, fp8, both = (on_a_node(*point).si + more for point in FOUR)
    return chips * fp8 / (start * both)


def expected() -> list[Quantity]:
    """Least and most of it within the band of published runs."""
    band = serving.estimate(MODEL, DEVICE, "bf16", tp=TP, context=CONTEXT).error
    assert band is not None, "no band for the running case"
    ratios = [together(off) for off in (band.low - 1, 0.0, band.high - 1)]
    return sorted(ratios, key=lambda ratio: ratio.si)[::2]


# -- tables ----------------------------------------------------------------------------


@cache
def written_down() -> dict[str, float]:
    """The prediction of the experiment, committed before any point was asked."""
    file = json.loads((results.root() / FORETOLD).read_text(encoding="utf-8"))
    return {row["id"]: row["value"] for row in file["rows"]}


def foretold_of(id: str) -> Quantity:
    """A number of it."""
    source = Source(FORETOLD, "before any point was asked", SEEN, "measured")
    return foretold(written_down()[id], "", f"foretold: {ROWS[id]}", source)


def rows() -> list[dict[str, Any]]:
    """What was foretold, and what came."""
    came = {name: alone(name) for name in SPACE}
    came |= {"product": found("product"), "joint": found("gain")}
    came |= {"ratio": found("ratio"), "greedy_loss": found("loss")}
    return [
        {"gain": words, "foretold": foretold_of(id), "enumerated": came[id]}
        for id, words in ROWS.items()
    ]


@counting("time of stop {at}", unit="s")
def stopped(at: int) -> float:
    """Of the different ends of greedy, best first."""
    return sorted({stop.seconds for stop in design().greedy.values()})[at]


@counting("orders that end at stop {at}")
def ending(at: int) -> int:
    """Of all orders of the axes."""
    time = stopped(at).si
    return sum(math.isclose(s.seconds, time) for s in design().greedy.values())


def stops() -> list[dict[str, Any]]:
    """Where greedy ends, best first."""
    every = {stop.seconds: stop.point for stop in design().greedy.values()}
    return [
        {
            "orders": ending(at),
            "tile": " x ".join(map(str, point["tile"])),
            "format": point["format"],
            "experts per token": chosen(point["experts"], label="experts"),
            "network": point["network"],
            "time": stopped(at),
            "loss": (stopped(at) / best() - 1).named("loss"),
        }
        for at, (_, point) in enumerate(sorted(every.items()))
    ]


def pairs() -> list[dict[str, Any]]:
    """Two axes at a time: gains multiplied, and chosen together."""
    columns = {"multiplied": "product", "together": "gain", "ratio": "ratio"}
    return [
        {"two of them": pair, **{c: found(of, pair) for c, of in columns.items()}}
        for pair in PAIRS
    ]

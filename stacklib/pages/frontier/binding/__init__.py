"""Section 10.1: Which layer binds you?"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from stacklib import hardware, models
from stacklib.evidence.predict import predictor
from stacklib.frontier import binding_layer, topology_fit
from stacklib.frontier.binding import TENTH, Binding, Move
from stacklib.frontier.fits import SWITCH, Domain, Suited, link_domain
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, OTHER, READERS, TP
from stacklib.pages.figures_of import measured, row
from stacklib.quantity import Quantity, chosen, counting, quoted

FAMILY = "E_decode/served"
ONE, SOME, MANY = 1, READERS, 128  # answers at once
HEADS = ("H100, alone", "H100, many", "B200, alone", "B200, many")
POINTS = ((DEVICE, ONE), (DEVICE, MANY), (OTHER, ONE), (OTHER, MANY))
EXPERTS, CUBE, LONG = "deepseek-v3", (4, 4, 4), (2, 4, 8)
EACH = {EXPERTS: 64, MODEL: 8}  # answers at once on each of the chips of a network
SPARSE = (
    MODEL,
    "mixtral-8x7b-v0.1",
    "deepseek-v4-pro",
    EXPERTS,
    "qwen3-235b-a22b",
    "kimi-k2",
    "minimax-m2.5",
    "llama-4-maverick",
)
# Published pairs that differ in one input: half the bits of a weight, more chips.
HALVED = (
    ("E-0065", "E-0081"),
    ("E-0069", "E-0085"),
    ("E-0067", "E-0083"),
    ("E-0071", "E-0087"),
    ("E-0075", "E-0091"),
    ("E-0079", "E-0095"),
)
WIDENED = (("E-0001", "E-0017"), ("E-0007", "E-0023"))
# Layers of the stack, as the first document lists them.


@cache
def moved(on: str = DEVICE, batch: int = ONE) -> Binding:
    """The running case on eight chips, each input a tenth better in turn."""
    case = {"model": MODEL, "on": on, "dtype": "bf16", "tp": TP}
    return binding_layer(case | {"batch": batch, "context": CONTEXT})


def _move(name: str, on: str, batch: int) -> Move:
    (found,) = (move for move in moved(on, batch).moves if move.name == name)
    return found


@counting("token on eight {on}, {batch} at once", unit="s", family=FAMILY)
def token(on: str = DEVICE, batch: int = ONE) -> float:
    """Its estimate, all lines."""
    return moved(on, batch).seconds


@counting("off the token on {on}, {batch} at once: {name} a tenth better")
def off(name: str, on: str = DEVICE, batch: int = ONE) -> float:
    """The share of its time that is gone."""
    found = _move(name, on, batch)
    return 1 - found.after / found.before


@counting("elasticity to {name} on {on}, {batch} at once")
def elasticity(name: str, on: str = DEVICE, batch: int = ONE) -> float:
    """Per cent of time for a per cent of the input."""
    return _move(name, on, batch).elasticity


@counting("what no rate shortens of a token alone")
def unmoved() -> float:
    """Pieces of work that start inside kernels."""
    return moved().unmoved


@counting("a token longer at nine tenths of the clock, at most")
def slower() -> float:
    """Its products, and what no rate shortens."""
    follows = _move("arithmetic", DEVICE, ONE).elasticity + moved().unmoved
    return follows * (1 / (1 - TENTH) - 1)


@counting("{name} of the token on {on}, {batch} at once", unit="s", family=FAMILY)
def line(name: str, on: str = DEVICE, batch: int = ONE) -> float:
    """One line of the estimate."""
    parts = moved(on, batch).estimate.parts
    return float(next(part.time.si for part in parts if part.name == name))


def share(name: str, on: str = DEVICE, batch: int = ONE) -> Quantity:
    """A line over all of them: what a rate that it alone waits for is worth."""
    return (line(name, on, batch) / token(on, batch)).named(f"share of {name}")


def tenth() -> Quantity:
    """What a tenth more of a rate takes off its own line."""
    one, more = chosen(1, label="rate before"), chosen(1 + TENTH, label="rate after")
    return (one - one / more).named("off its own line")


def inputs() -> list[dict[str, Any]]:
    """Inputs by what a tenth of each takes off the token, at four points."""
    columns = dict(zip(HEADS, POINTS, strict=True))
    return [
        {"a tenth better": move.name, "layer": move.layer}
        | {head: off(move.name, *point) for head, point in columns.items()}
        for move in sorted(moved().moves, key=lambda move: not move.rate)
    ]


# -- published pairs -------------------------------------------------------------------


@counting("token of run {id}, predicted", unit="s", family=FAMILY)
def predicted(id: str) -> float:
    """By the estimate, for the published run's own chips, format and requests."""
    return predictor("E")(row(id))().value


def gain(before: str, after: str, foretold: bool = False) -> Quantity:
    """The token of one run over that of another."""
    of = predicted if foretold else measured
    return (of(before) / of(after)).named(f"{before} over {after}")


def pairs() -> list[dict[str, Any]]:
    """Each pair of runs: what moved, and what the token gained."""
    found = []
    for before, after in (*HALVED, *WIDENED):
        one, other = row(before).config, row(after).config
        many, more = one["tp"], other["tp"]
        narrowed = f"{one['gemm']} to {other['gemm']}".upper().replace("TO", "to")
        found.append(
            {
                "moved": narrowed if many == more else f"chips, {many} to {more}",
                "on": f"{many} x {hardware.get(row(before).system).short}",
                "at once": str(one["concurrency"]),
                "predicted": gain(before, after, foretold=True),
                "measured": gain(before, after),
            }
        )
    return found


def devices() -> list[str]:
    """The chip of each pair."""
    return [row(before).system for before, _ in (*HALVED, *WIDENED)]


def missed(at: int) -> Quantity:
    """Measured over predicted gain of a pair that halved the bits."""
    pair = HALVED[at]
    return (gain(*pair) / gain(*pair, foretold=True)).named("measured over predicted")


# -- networks, and how many chips a model wants on one ---------------------------------


@cache
def suited(model: str) -> tuple[Suited, ...]:
    """A switch, a cube and a long torus of the same chips."""
    return topology_fit(model, (SWITCH, CUBE, LONG), batch=EACH[model])


@counting("{what} of {model} on network {at}", unit="s", family=FAMILY)
def network(what: str, model: str = EXPERTS, at: int = 0) -> float:
    """``exchanges`` or ``step``; 0 is the switch, 1 the cube, 2 the long torus."""
    return float(getattr(suited(model)[at], what))


def longer(what: str, model: str = EXPERTS, at: int = 1) -> Quantity:
    """Over that on the switch."""
    found = network(what, model, at) / network(what, model)
    return found.named(f"{what} of {model} over those on a switch")


@counting("mean hops between two chips of a torus {shape}")
def hops(shape: tuple[int, ...] = CUBE) -> float:
    """A ring of an even number of places is on average a quarter of them across."""
    many = prod(shape)
    return sum(shape) / 4 * many / (many - 1)


@cache
def domain(model: str) -> Domain:
    """Chips whose memory holds enough answers to feed every expert."""
    return link_domain(model, DEVICE)


@counting("{what} of {model}")
def wants(what: str, model: str = EXPERTS) -> float:
    """``chips``, ``sequences``, ``rows`` or ``share``."""
    return float(getattr(domain(model), what))


def in_order() -> list[str]:
    """Models, those that want few chips first."""
    return sorted(SPARSE, key=lambda name: domain(name).chips)


def domains() -> list[dict[str, Any]]:
    """Models by the chips that must reach each other at full rate."""
    return [
        {
            "model": models.get(name).name,
            "passed of its weights": wants("share", name),
            "answers at once": wants("sequences", name),
            "chips": wants("chips", name),
        }
        for name in in_order()
    ]


def deployed() -> Quantity:
    """H100s among which a published deployment shared the experts of DeepSeek-V3."""
    nodes, each = quoted("lmsys_ep.writers"), quoted("lmsys_ep.gpus")
    return (nodes * each).named("chips that write")


def rack() -> Quantity:
    """GPUs that a rack's switches join."""
    return hardware.get("gb200").link_domain.named("GPUs of a rack")


@counting("sparse rate of the {on} over its dense one")
def pruned(on: str = "trainium2") -> float:
    """Of 16-bit products, by its data sheet."""
    chip = hardware.get(on)
    return float(chip.peak("bf16", sparse=True).si / chip.peak("bf16").si)

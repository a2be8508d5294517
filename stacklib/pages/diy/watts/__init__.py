"""Section 9.4: What does a watt buy?"""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from stacklib import hardware
from stacklib.diy import Build, chain, power, speed
from stacklib.diy.breaker import Chain
from stacklib.diy.voltage import ENDS, STATIC, WORK, spread, voltage
from stacklib.evidence import measurements, results
from stacklib.evidence.systems import device_of
from stacklib.pages.figures_of import measured
from stacklib.quantity import Quantity, chosen, counted, counting, quoted
from stacklib.quantity.constants import case

MODEL = "llama-3-70b:q4_k_m"
CARD, UNSEEN = "rtx_3090", "rtx_5090"  # in the machine; one that no constant has seen
CAP = 0.7  # of the board's power
PAIR, ALL = 2, 6  # cards that hold the model, and all that stand there
HOURS, OUTSIDE, ROOM = case("work"), 22, 12
LIMITS, TRIED = (350, 310, 270, 250, 230, 210, 190, 170), 230  # W
RUNS = {  # first row of each published table of speeds by limit
    "RTX 3090, 27B dense, decode": "J-F001",
    "RTX 3090, 35B-A3B, decode": "J-F021",
    "RTX 3090, 27B dense, prompt": "J-F031",
    "RTX 4090, 27B dense, decode": "J-F041",
    "RTX 5090, 27B dense, prompt": "J-F052",
    "RTX 5090, 31B dense, decode": "J-F062",
    "PRO 6000 Workstation, products": "J-F072",
    "PRO 6000 Server, products": "J-F080",
}
DENSE, OLDER, PROMPT, DECODE = (list(RUNS)[i] for i in (0, 3, 4, 5))


@cache
def build(cards: int = PAIR, limit: float | None = None) -> Build:
    """RTX 3090s on a board with seven long slots: two supplies, one circuit."""
    return Build(
        gpus=[CARD] * cards,
        cpu="epyc_7302",
        board="romed8_2t",
        memory="8 x ksm32r_32",
        psu=["evga_1600_p2"] * 2,
        storage="990_pro_2tb",
        case="open_frame_8",
        cooling="freezer_4u_m",
        limit=limit,
    )


@cache
def made(cards: int = PAIR, limit: float | None = None) -> Chain:
    """What that machine does after three hours behind a closed door."""
    return chain(build(cards, limit), hours=HOURS, ambient=OUTSIDE, room=ROOM)


def card(what: str, watts: float | None = None, on: str = UNSEEN) -> Quantity:
    """What ``diy.power`` says of a card that decodes: ``speed``, or watts."""
    words = f"{what} of the {on}" + (f" at {watts:g} W" if watts else "")
    unit = "" if what in ("speed", "clock") else "W"
    return counted(power, on, watts, take=what, unit=unit, label=words)


def board(on: str = UNSEEN) -> Quantity:
    """Watts that it is sold with."""
    return hardware.get(on).tdp


def end(watts: float, which: int, on: str = CARD) -> Quantity:
    """Speed left to kernels that work most (0), and to those that wait most (1)."""
    words = f"speed at {watts:g} W, {('hungriest', 'most patient')[which]} kernel"
    return counted(spread, on, watts, take=f"[{which}]", label=words)


@counting("voltage at {watts} W over that at the top")
def volts(watts: float) -> float:
    """By the curve, at the clock that the limit allows."""
    return voltage(power(UNSEEN, watts).clock) / voltage(WORK["decode"].top)


def capped() -> Quantity:
    """That power, lowered."""
    return (chosen(CAP, label="share of it") * board()).named("the limit")


@counting("watts of the {on} without work", unit="W")
def idle(on: str = UNSEEN) -> float:
    """What is drawn whatever it does."""
    return STATIC[""] * float(board(on).si)


@counting("watts wanted of the {on} by a dense model in few bits", unit="W")
def dense(on: str = CARD) -> float:
    """If a board granted it."""
    return ENDS["decode"][0].wants * float(board(on).si)


def this_machine() -> str:
    """What the bench of heat read of the processor's own watts, or why it did not."""
    found = results.need("rig_temperature")["host_power"]
    if "not_run" in found:
        return f"This machine: not run: {found['not_run']}."
    return f"This machine: {found['watts']:.3g} W of its processor, one thread at work."


@cache
def published(run: str) -> list[tuple[float, Quantity, float]]:
    """Of a table: each limit, the share of speed read there, and ours."""
    rows = [r for r in measurements.found() if r.metric == "relative_speed"]
    first = next(row for row in rows if row.id == RUNS[run])

    def same(row: measurements.Measurement) -> tuple[Any, ...]:
        return row.system, row.subject, row.config.get("work")

    card, work, told = device_of(first.system)[0], str(first.config["work"]), []
    for row in rows:
        if same(row) == same(first):
            less, whole = map(float, str(row.config["power_limit_W"]).split(" vs "))
            ours = [power(card, watts, work=work).speed for watts in (less, whole)]
            told.append((less, measured(row.id), 100 * ours[0] / ours[1]))
    return told


@counting("points between line and rows, {run}")
def miss(run: str) -> float:
    """The median of a table's distances."""
    return float(table_row(run)["median"])


def lowest() -> tuple[Quantity, Quantity, Quantity]:
    """A dense model on a 3090 at its lowest limit: what was read, told, and watts."""
    watts, read, _ = published(DENSE)[0]
    told = counted(usual, watts, label="the usual line there")
    limit = counted(published, DENSE, take="[0][0]", unit="W", label="limit")
    return read, told, limit


def usual(watts: float) -> float:
    """Speed that the usual line tells of an RTX 3090, over that at 390 W."""
    return power(CARD, watts).speed / power(CARD, 390).speed


def table_row(run: str) -> dict[str, Any]:
    """A published table beside the curve: points between rows and line."""
    apart = [abs(ours - read.value) for _, read, ours in published(run)]
    names = "run", "rows", "median", "worst"
    return dict(zip(names, (run, len(apart), median(apart), max(apart)), strict=True))


@counting("tokens a second of a pair of RTX 3090s", unit="token/s", family="J/decode")
def tokens() -> float:
    """Of the model by tensors, where nothing limits the cards."""
    return speed(build(), MODEL, split="tensors").decode


def chained(of: str, cards: int = PAIR, limit: float | None = None) -> float:
    """A number of the chain by its name; degrees of a part are those at the end."""
    found = made(cards, limit)
    if of in ("die", "sink", "case", "room"):
        return float(getattr(found.curve, of)[-1])
    return float(getattr(found, of))


def part(of: str, unit: str, cards: int = PAIR, limit: float | None = None) -> Quantity:
    """The same with its unit."""
    words = f"{of}, {cards} cards" + (f" at {limit:g} W" if limit else "")
    return counted(chained, of, cards, limit, unit=unit, label=words)


def rate(cards: int = PAIR, limit: float | None = None) -> Quantity:
    """Tokens a second of all pairs."""
    pairs = chosen(cards // PAIR, label="pairs")
    return (pairs * tokens() * part("speed", "", cards, limit)).named("all tokens")


def joules(cards: int = PAIR, limit: float | None = None) -> Quantity:
    """From the wall, for each token."""
    each = part("wall", "W", cards, limit) / rate(cards, limit)
    return each.to("J/token").named("a token from the wall")


@counting("limit at which a token takes fewest joules", unit="W")
def best() -> float:
    """Of every tenth watt."""

    def each(limit: int) -> float:
        return made(PAIR, limit).wall / made(PAIR, limit).speed

    return min(range(150, 351, 10), key=each)


def row(cards: int, limit: float | None = None) -> dict[str, Any]:
    """The machine under a limit: what it takes, and what it gives."""
    return {
        "cards": chosen(cards, label="cards"),
        "each card": part("limit", "W", cards, limit),
        "node, at the wall": part("wall", "W", cards, limit),
        "speed left": part("speed", "", cards, limit),
        "tokens": rate(cards, limit),
        "a token": joules(cards, limit),
        "dies (°C)": part("die", "", cards, limit),
        "binds": made(cards, limit).binds,
    }


def circuit() -> Quantity:
    """Watts that an outlet gives for hours."""
    outlet, hours = chosen(120, "V", label="outlet"), chosen(0.8, label="for hours")
    return (outlet * quoted("rig.amps_low") * hours).to("W").named("a circuit")


@counting("watts of the {cards} cards together", unit="W")
def drawn(cards: int = ALL) -> float:
    """At the end of the hours."""
    return made(cards).curve.watts[-1]

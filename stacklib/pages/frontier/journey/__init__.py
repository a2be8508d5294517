"""Section 10.8: Where did it all go?"""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from stacklib import models
from stacklib.cost.spans import Span
from stacklib.frontier import meters
from stacklib.frontier.waterfall import Event, Journey, journey
from stacklib.hardware import THIS_MACHINE, get
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, OTHER, TP
from stacklib.pages.serving import journey as street
from stacklib.quantity import Quantity, chosen, constant, counted, counting
from stacklib.quantity.records import recorded
from stacklib.roofline import Infeasible
from stacklib.serving.token import joules

HERE = "10-frontier/journey"
MILLION = 10**6  # tokens that a price is told for
BATCHES = (8, 128)  # of the published runs that are shown
DENSE, LONG, MIXED = "dense, chat", "dense, long answers", "mixtures of experts"
WINDOW = "mixtures, a window with pauses"  # InferenceX
KINDS = {"dense": DENSE, "long": LONG, "mixed": MIXED, "window": WINDOW}
SEEN = "M-0033"  # of them: Llama-3.1-70B, eight answers on four H100s
FEW = 16  # tokens of a short answer
MACHINES = DEVICE, OTHER, THIS_MACHINE  # two to rent, and the one that made the page


@cache
def alone(on: str = DEVICE) -> Journey:
    """One reader on eight chips; on this machine the tiny model, as it was timed."""
    if on == THIS_MACHINE:
        return journey("tiny", on, context=511)
    return journey(MODEL, on, "bf16", TP, context=CONTEXT)


@cache
def answer(new: int = street.NEW, batch: int = 1) -> Journey:
    """The same with a prompt of its own, and so many tokens written."""
    asked: dict[str, Any] = {"context": street.PROMPT, "prompt": street.PROMPT}
    return journey(MODEL, DEVICE, "bf16", TP, batch, new=new, **asked)


def event(name: str) -> Event:
    """A line of the token by its name."""
    return next(e for e in alone().events if e.name == name)


def timed(on: str = DEVICE) -> list[Event]:
    """The lines of a token that take time."""
    return [e for e in alone(on).events if e.time is not None]


def end(span: Span | None, which: int) -> Quantity:
    """Its low end (0) or its high end (1)."""
    assert span is not None, "no figure is known"
    return span.high if which else span.low


def part(name: str, which: int, on: str = DEVICE) -> Quantity:
    """Joules of the token by what they are of, at one end."""
    return end(alone(on).token.by_part()[name], which)


def share(name: str = joules.MADE, which: int = 1) -> Quantity:
    """What a part takes of the joules that are known, at one end."""
    of = part(name, which) / end(alone().joules, which)
    return of.named(f"{name}, share of joules")


def million(paid: Span | None, label: str) -> Quantity:
    """Dollars of a million such tokens, between the ends."""
    assert paid is not None, "no price is known"
    tokens = chosen(MILLION, label="tokens")
    return (paid.middle * tokens).to("USD").named(label)


def gap(which: int, on: str = DEVICE) -> Quantity:
    """Joules that boards may draw and nothing explains: least (0), most (1)."""
    found = alone(on).token.gap
    assert found is not None, "no figure is known"
    return found[which]


# -- the formula, in numbers -----------------------------------------------------------


def total(of: str) -> Quantity:
    """Bytes read, or operations, of the whole token over all chips."""
    lines = [e.line for e in alone().events if e.line.covers]
    found = [x.operations if of == "operations" else x.bytes + x.beside for x in lines]
    return sum(found[1:], found[0]).named(f"{of} of the token")


def rate(of: str, which: int) -> Quantity:
    """Joules of a bit or an operation, or watts of a chip that stands still."""
    return end(getattr(joules.rates(get(DEVICE), "bf16"), of), which)


def weight(of: str) -> Quantity:
    """Joules of bringing one weight of 16 bits, or of multiplying and adding it."""
    many = chosen(16, "bit", "a weight") if of == "bit" else constant("multiply_add")
    return (many * rate(of, 1)).to("J").named(f"one weight, {of}")


def watts(which: int) -> Quantity:
    """What eight boards draw if the joules at one end are all."""
    return (end(alone().joules, which) / alone().time).to("W").named("boards together")


# -- prompt and answer, alone and in company -------------------------------------------


def of_prompt(which: int) -> Quantity:
    """Joules of the prompt, in tokens of the answer that take as many."""
    both = end(alone().prompt.joules, which) / end(alone().joules, which)
    return both.to("1").named("tokens of the same joules")


def metered(new: int, which: int) -> Quantity:
    """Joules over tokens written, prompt included, for an answer of so many."""
    return end(answer(new).metered, which)


def prompt_share(found: Journey, which: int) -> Quantity:
    """What of the prompt's joules falls on each token written."""
    written = chosen(found.new, label="tokens written")
    return (end(found.prompt.joules, which) / written).named("a prompt's part")


def others() -> Quantity:
    """Time that goes into prompts of others, for each token."""
    return (street.shared() * street.added()).named("prompts of others")


def company() -> list[dict[str, Any]]:
    """A token alone and among others: time, joules, dollars."""
    many = round(street.held())
    rows = []
    for name, batch, step, wait, paid in (
        ("alone", 1, alone().time, None, million(alone().dollars, "alone")),
        (f"among {many}", many, street.step(), others(), street.cost()),
    ):
        found = answer(batch=batch)
        rows.append(
            {
                "the token": name,
                "its step": step,
                "prompts of others": wait,
                "in all": step if wait is None else step + wait,
                "joules, least": end(found.metered, 0),
                "joules, most": end(found.metered, 1),
                "of its prompt, most": prompt_share(found, 1),
                "a million": paid,
            }
        )
    return rows


# -- what meters showed ----------------------------------------------------------------


def kind(row: meters.Metered) -> str:
    """Which of the kinds a published run is of."""
    if row.of != "mlenergy":
        return WINDOW
    if models.get(row.model).experts is not None:
        return MIXED
    return LONG if row.phase == meters.ALONE else DENSE


@cache
def published() -> dict[str, list[tuple[meters.Metered, Span]]]:
    """Published joules with the span predicted; what does not fit is left out."""
    told: dict[str, list[tuple[meters.Metered, Span]]] = {}
    told |= {of: [] for of in KINDS.values()}
    for row in meters.metered():
        if row.batch in BATCHES or kind(row) == WINDOW:
            try:
                told[kind(row)].append((row, row.predicted))
            except Infeasible:
                continue
    return told


@counting("published runs, {of}")
def runs(of: str) -> int:
    """How many are shown."""
    return len(published()[of])


@counting("published runs inside the span, {of}")
def inside(of: str) -> int:
    """How many lie between both ends."""
    return sum(row.measured in span for row, span in published()[of])


@counting("{which} end over what was measured, {of}")
def over(of: str, which: str = "high") -> float:
    """The median of an end of the prediction over what a meter showed."""
    ends = [(getattr(span, which) / row.measured).si for row, span in published()[of]]
    return median(ends)


def seen() -> Quantity:
    """Watts of four H100s that write with Llama-3.1-70B, as they were published."""
    return recorded(meters.FILE, SEEN, "watts", unit="W", label="four boards, metered")


def sold() -> Quantity:
    """Watts that those four are sold with."""
    return (get(DEVICE).tdp * chosen(4, label="boards")).named("four boards, as sold")


# -- three machines --------------------------------------------------------------------


def answers() -> Quantity:
    """Answers at once on the machine of the fleet."""
    return counted(street.held, label="answers at once")


def compared() -> list[dict[str, Any]]:
    """The three sums of a token on each machine."""
    rows = []
    for key in MACHINES:
        found, known = alone(key), key != THIS_MACHINE
        rows.append(
            {
                "machine": f"{TP} x {get(key).short}" if known else "this one, tiny",
                "a token": found.time,
                "measured": found.measured,
                "joules, least": end(found.joules, 0) if known else None,
                "joules, most": end(found.joules, 1) if known else None,
                "at design power": found.token.ceiling,
                "a million": million(found.dollars, key) if known else None,
            }
        )
    return rows


def slower() -> Quantity:
    """This machine's step as it was timed, over the one predicted."""
    found = alone(THIS_MACHINE)
    assert found.measured is not None, "no checkout with the bench's results"
    return (found.measured / found.time).to("1").named("measured over predicted")

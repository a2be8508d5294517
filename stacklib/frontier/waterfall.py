"""One token through all layers, in time, joules and dollars: the account, shown.

Nothing is computed here a second time. The events are the lines of
``serving.estimate`` with their joules, to which standing still is added by their time,
and a line's dollars are its part of ``cost.token``'s bill.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stacklib.cost.spans import Span
from stacklib.cost.tokens import TokenBill
from stacklib.hardware import THIS_MACHINE, Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen, maximum, minimum
from stacklib.quantity.bounds import whole
from stacklib.quantity.records import recorded
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates.estimate import Estimate, estimate
from stacklib.serving.token import host
from stacklib.serving.token.account import frame_of
from stacklib.serving.token.joules import Rates, rates, stood
from stacklib.serving.token.lines import Line

from .dollars import bill_of, checked

SECOND = 1e9  # ns
TIMED = "benchmarks/results/tiny_model.json"


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the account, in three currencies.

    - ``time``: of the step; None for a line that nothing times
    - ``parts``: joules of one token by what they are of, empty where no figure is known
    - ``dollars``: of one token; None where nobody quotes a price
    """

    line: Line
    parts: dict[str, Span]
    dollars: Span | None

    @property
    def name(self) -> str:
        """As the account calls it."""
        return self.line.name

    @property
    def section(self) -> str:
        """The section of the book that owns it."""
        return self.line.section

    @property
    def time(self) -> Any:
        """The line's own."""
        return self.line.time

    @property
    def joules(self) -> Span | None:
        """All of its parts."""
        return _sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Phase:
    """A prompt, or a step: what happens, and what the boards may draw meanwhile.

    - ``tokens``: that share the joules and the dollars: sequences of a step
    - ``ceiling``: joules of one token were every board at its design power; None where
      that is not published
    """

    name: str
    events: tuple[Event, ...]
    tokens: int
    ceiling: Quantity | None

    @property
    def time(self) -> Quantity:
        """Of all events, one after the other."""
        times = [e.time for e in self.events if e.time is not None]
        return sum(times[1:], times[0])

    @property
    def joules(self) -> Span | None:
        """What is known of one token's."""
        return _sum(e.joules for e in self.events)

    @property
    def dollars(self) -> Span | None:
        """Of one token; of a prompt, of all of it."""
        return _sum(e.dollars for e in self.events)

    @property
    def explained(self) -> Span | None:
        """Known joules over those at design power, at most all of them."""
        if self.joules is None or self.ceiling is None:
            return None
        ends = self.joules.low / self.ceiling, self.joules.high / self.ceiling
        low, high = (minimum(1.0, end.to("1")) for end in ends)
        return Span(low, high).named("share explained")

    @property
    def gap(self) -> tuple[Quantity, Quantity] | None:
        """The bar with a name: joules that a board may draw and nothing here explains.

        The least and the most; the least is zero where more is explained than drawn.
        """
        if self.joules is None or self.ceiling is None:
            return None
        nothing = 0 * self.ceiling
        ends = self.ceiling - self.joules.high, self.ceiling - self.joules.low
        low, high = (maximum(end, nothing) for end in ends)
        return low.named("not explained, least"), high.named("not explained, most")

    def by_part(self) -> dict[str, Span]:
        """Joules by what they are of, over all events."""
        names = dict.fromkeys(name for e in self.events for name in e.parts)
        found = {n: _sum(e.parts.get(n) for e in self.events) for n in names}
        return {name: joules for name, joules in found.items() if joules is not None}


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds in the queue before a request is let in, of a simulated traffic."""

    mean: float
    median: float
    tail: float  # 99 in 100 wait no longer
    utilisation: float
    words: str


@dataclass(frozen=True, slots=True, repr=False)
class Journey:
    """One token on one machine: ``token`` is its step, ``prompt`` what came before.

    - ``bill``: the six rows of a million tokens; None where nobody quotes a price, and
      ``unpriced`` says so
    - ``wait``: in the queue, where a traffic was given
    """

    estimate: Estimate
    token: Phase
    prompt: Phase
    new: int
    bill: TokenBill | None
    unpriced: str
    wait: Wait | None

    def __repr__(self) -> str:
        joules, dollars = self.token.joules, self.token.dollars
        words = [self.token.time.text()]
        words.append("no joules known" if joules is None else joules.text("J"))
        words.append("no price known" if dollars is None else dollars.text("USD"))
        return f"<Journey {self.estimate.title}: {', '.join(words)}>"

    @property
    def events(self) -> tuple[Event, ...]:
        """Those of the token: the lines of ``estimate.parts``, in their order."""
        return self.token.events

    @property
    def time(self) -> Quantity:
        """What the token takes: ``estimate.tpot``."""
        return self.token.time

    @property
    def joules(self) -> Span | None:
        """What is known of the token's joules."""
        return self.token.joules

    @property
    def dollars(self) -> Span | None:
        """What the token costs: a millionth of the bill."""
        return self.token.dollars

    @property
    def measured(self) -> Quantity | None:
        """A step that the book's machine was timed at, for one on *this machine*."""
        asked = self.estimate.asked
        row = f"decode-{host.own_name(asked.model)}-{int(asked.context)}"
        try:
            return recorded(TIMED, row, "times_s/median", unit="s", label="a token")
        except (LookupError, ValueError):  # another case, or no checkout
            return None

    @property
    def metered(self) -> Span | None:
        """Joules that a meter divides by tokens written: prompt and answer in one sum.

        It can be had from a bill of power, and says of neither phase what it takes.
        """
        if self.joules is None or self.prompt.joules is None:
            return None
        written = chosen(self.new, label="tokens written")
        return self.joules + self.prompt.joules / written

    def rows(self) -> list[dict[str, Any]]:
        """A row an event: line, section, seconds, joules, dollars."""
        return [
            {
                "line": e.name,
                "time": e.time,
                "joules": e.joules,
                "dollars": e.dollars,
                "section": e.section,
            }
            for e in self.events
        ]


def journey(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    tp: int = 1,
    batch: int = 1,
    context: int | None = None,
    *,
    prompt: int | None = None,
    new: int = 1,
    traffic: Sequence[Any] | None = None,
    prices: Any = None,
    mode: str = "calibrated",
) -> Journey:
    """One token through all layers, in three currencies.

    Joules and dollars are those of one token: a step's, shared by the sequences of its
    batch. Time is the whole step's, because every one of them waits for it.

    Parameters
    ----------
    model, on, dtype, tp, batch, context, prompt, new, mode
        As ``serving.estimate`` takes them; batch and context are whole numbers.
    traffic : sequence, optional
        Requests, as ``serving.poisson`` makes them: adds the wait in the queue.
    prices : float or mapping, optional
        In place of quotes: dollars a kilowatt hour, or some of ``rent`` and ``capital``
        (dollars an hour, or dollars, of a chip), ``power`` (dollars a kilowatt hour),
        ``pue``, ``years`` and ``utilisation``.

    Raises
    ------
    Infeasible
        Where it does not fit, with the sum.
    UnknownName, UnknownSpec
        For a name that nothing has, or a figure that is not known.
    ValueError
        For what makes no sense: sizes, a price that is not above zero.
    OverCapacity
        For a traffic under which the queue grows without end.

    Examples
    --------
    >>> found = journey("llama-3-70b", "h100-sxm", "bf16", tp=8)
    >>> bool(found.time == found.estimate.tpot), len(found.events)
    (True, 8)
    >>> found.token.explained.text()
    '0.19 to 0.49'
    """
    whole(batch=batch, new=new, tp=tp)
    batch, new, tp = int(batch), int(new), int(tp)  # of NumPy's narrow ones, too
    paid = checked(prices)
    if context is not None:
        whole(0, context=context)
        context = int(context)
    asked: dict[str, Any] = {"dtype": dtype, "tp": tp, "batch": batch}
    asked |= {"context": context, "prompt": prompt, "new": new, "mode": mode}
    found = estimate(model, on, **asked)
    if not found.fits:
        raise Infeasible(found.why)
    device = device_of(on)
    here = device.key == THIS_MACHINE
    per = Rates(None, None, None, None, device.fields["tdp"])
    if not here:
        frame = frame_of(*found.asked.keys, found.asked.software, True)
        per = rates(device, frame.runs_in)
    bill, unpriced = bill_of(device, tp, found.tokens_per_s, paid)
    step = _phase("a token", found.parts, batch, per, tp, bill)
    opened = _phase("the prompt", found.prompt_parts, 1, per, tp, bill)
    wait = None if traffic is None else _wait(model, on, dtype, tp, traffic)
    return Journey(found, step, opened, new, bill, unpriced, wait)


def _phase(
    name: str,
    lines: Iterable[Line],
    tokens: int,
    per: Rates,
    chips: int,
    bill: TokenBill | None,
) -> Phase:
    """Lines with the joules and the dollars of each."""
    events = []
    shared = chosen(tokens, label="sequences of the step")
    hour = None if bill is None else bill.hour
    for line in lines:
        parts = (line.spent or {}) | stood(line, per, chips)
        each = {what: joules / shared for what, joules in parts.items()}
        dollars = None
        if bill and hour and line.time is not None and line.time.si > 0:
            whole_ = hour * line.time / shared / bill.utilisation
            dollars = whole_.to("USD").named(f"dollars, {line.name}")
        events.append(Event(line, each, dollars))
    found = Phase(name, tuple(events), tokens, None)
    if per.design is None:
        return found
    drawn = per.design * chosen(chips, label="chips") * found.time / shared
    ceiling = drawn.to("J").named("joules at design power")
    return Phase(name, found.events, tokens, ceiling)


def _sum(spans: Iterable[Span | None]) -> Span | None:
    known = [each for each in spans if each is not None]
    return sum(known[1:], known[0]) if known else None


def _wait(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: Any,
    tp: int,
    traffic: Sequence[Any],
) -> Wait:
    """From the request to its place in a batch."""
    from stacklib.serving.simulation.simulate import simulate

    run = simulate(model, on, traffic, tp=tp, dtype=dtype)
    run.percentiles("ttft")  # raises where the line grows without end
    waits = sorted((each.admitted - each.arrival) / SECOND for each in run.requests)
    count = len(waits)
    return Wait(
        sum(waits) / count,
        waits[(count - 1) // 2],
        waits[min(count - 1, 99 * count // 100)],
        run.utilisation,
        run.words,
    )

"""One token's way down the stack and back: a list of events, each a lower bound.

``journey`` lists what must happen for one new word, layer of the stack by layer, with
the time and the bytes of each; what nothing here can compute yet is listed too, and
has no time. ``closed_form`` gives the same total by formula, ``walk`` by stepping
through every layer of the model. Later chapters replace events by better ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, chosen

from ..bound.decode import DecodeStep, decode_step
from ..work.bounds import device_of
from ..work.fit import model_of
from .events import BEFORE, PER_LAYER, Event, _EventMaker

EXCHANGES = ("direct", "ring")


@dataclass(frozen=True, slots=True)
class Stretch:
    """One event as ``walk`` met it: when it began and ended."""

    event: Event
    start: float
    stop: float


@dataclass(frozen=True, slots=True)
class Journey:
    """The events of one token, in order, and their sums."""

    device: Accelerator
    chips: int
    step: DecodeStep
    events: tuple[Event, ...]
    kinds: int

    @property
    def layer_events(self) -> tuple[Event, ...]:
        """Those of the model's layers: ``PER_LAYER`` for each kind of layer."""
        return self.events[BEFORE : BEFORE + self.kinds * PER_LAYER]

    def _sum(self, field: str, events: Iterable[Event]) -> Quantity:
        found = [q for e in events if (q := e.all(field)) is not None]
        total = found[0]
        for q in found[1:]:
            total = total + q
        return total.named(f"{field} of the journey")

    @property
    def time(self) -> Quantity:
        """Sum over the events that have a time and do not run under another."""
        return self._sum("time", (e for e in self.events if not e.under))

    @property
    def memory_bytes(self) -> Quantity:
        """Bytes read from and written to memory, over all chips."""
        return self._sum("bytes", (e for e in self.events if e.layer == 2))

    @property
    def energy(self) -> Quantity:
        """Joules of the events whose energy is known: not of the journey."""
        return self._sum("energy", self.events)

    @property
    def energy_ceiling(self) -> Quantity:
        """Joules if every chip drew its design power throughout."""
        power = self.device.tdp.across(self._chips)
        return (power * self.time).named("energy at design power")

    @property
    def price(self) -> Quantity:
        """What the chips cost for that long, rented."""
        hour = self.device.cloud_price.across(self._chips)
        return (hour * self.time).named("price of the token")

    @property
    def _chips(self) -> Quantity:
        return chosen(self.chips, label="chips")

    def share(self, layer: int) -> Quantity:
        """Share of the time in which the token is at one layer of the stack."""
        here = [e for e in self.events if e.layer == layer and not e.under and e.time]
        if not here:
            return chosen(0, label=f"nothing timed at layer {layer}")
        return (self._sum("time", here) / self.time).named("share of the journey")


def journey(
    model: str | LanguageModel = "llama-3-70b",
    *,
    on: str | Accelerator = "h100-sxm",
    dtype: str = "bf16",
    tp: int = 8,
    context: int = 4096,  # tokens already cached
    exchange: str = "direct",
) -> Journey:
    """The events of one new token of one sequence."""
    if exchange not in EXCHANGES:
        raise ValueError(f"exchange {exchange!r}: one of {', '.join(EXCHANGES)}")
    model, device = model_of(model), device_of(on)
    if not model.grows:
        raise ValueError(
            f"{model.key}: its layers do not all see the whole context, and one "
            "event cannot stand for all of them; ask for decode_step"
        )
    step = decode_step(model, on=device, dtype=dtype, tp=tp, context=context)
    step.time  # noqa: B018  raises where the model does not fit
    made = _EventMaker(model, device, dtype, tp, context, exchange == "ring")
    return Journey(device, tp, step, tuple(made.events()), len(model.kinds))


def walk(journey: Journey, model: str | LanguageModel) -> Iterator[Stretch]:
    """Step through the journey layer by layer, with a clock: floats, in seconds."""
    model = model_of(model)
    clock = 0.0
    inside = journey.layer_events
    before = journey.events[:BEFORE]
    after = journey.events[BEFORE + len(inside) :]
    kinds = [inside[i : i + PER_LAYER] for i in range(0, len(inside), PER_LAYER)]
    layers = [e for kind in model.pattern for e in kinds[kind]]
    for event in (*before, *layers, *after):
        if event.time is None:
            yield Stretch(event, clock, clock)
            continue
        stop = clock + event.time.si
        yield Stretch(event, clock, stop)
        clock = clock if event.under else stop


def closed_form(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str = "bf16",
    tp: int = 8,
    context: int = 4096,  # tokens already cached
    exchange: str = "direct",
) -> Quantity:
    """The journey's time by formula: the decode step, exchanges, two crossings."""
    model, device = model_of(model), device_of(on)
    made = _EventMaker(model, device, dtype, tp, context, exchange == "ring")
    step = decode_step(model, on=device, dtype=dtype, tp=tp, context=context)
    layers = model.size("layers", "layers")
    total = step.t_memory + made.row_time() + 2 * made.crossing()
    if tp > 1:
        total = total + 2 * layers * made.exchange() + made.gather()
    return total.named("time of the journey")

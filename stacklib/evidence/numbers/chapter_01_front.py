"""Numbers of the way in: the stack map, the token's journey, the first page."""

from __future__ import annotations

import math
from functools import cache

from stacklib import hardware, models, roofline
from stacklib.quantity import Quantity, bytes_per_element
from stacklib.roofline import DecodeStep
from stacklib.roofline.count import readiness
from stacklib.roofline.journey.events import Event
from stacklib.roofline.journey.token_journey import Journey, journey

from .registry import number

MODEL, DEVICE, DTYPE, CHIPS, CONTEXT = "llama-3-70b", "h100-sxm", "bf16", 8, 4096


@cache
def trip(exchange: str = "direct") -> Journey:
    """One token of Llama-3-70B in bf16 on eight H100s, 4,096 tokens cached."""
    return journey(
        MODEL, on=DEVICE, dtype=DTYPE, tp=CHIPS, context=CONTEXT, exchange=exchange
    )


def event(words: str) -> Event:
    """The one event whose description begins with these words."""
    (found,) = [e for e in trip().events if e.what.startswith(words)]
    return found


def event_time(words: str) -> Quantity:
    """The time of one such event."""
    time = event(words).time
    assert time is not None
    return time


def step(batch: int) -> DecodeStep:
    """The same step for several sequences."""
    return roofline.decode_step(
        MODEL, on=DEVICE, dtype=DTYPE, tp=CHIPS, batch=batch, context=CONTEXT
    )


def room() -> Quantity:
    """Sequences whose caches fit beside the weights, not rounded."""
    chips = Quantity(CHIPS, label="chips", kind="assumption")
    model = models.get(MODEL)
    memory = hardware.get(DEVICE).memory_capacity.across(chips)
    return (memory - model.weight_bytes(DTYPE)) / model.kv_bytes(CONTEXT, DTYPE)


def price(batch: int) -> Quantity:
    """Dollars of a million tokens at the rented price and the least time."""
    chips = Quantity(CHIPS, label="chips", kind="assumption")
    hour = hardware.get(DEVICE).cloud_price.across(chips)
    million = Quantity(1e6, "token", label="a million tokens", kind="constant")
    return (hour * million / step(batch).tokens_per_s).named(
        "price of a million tokens"
    )


# -- the stack map, from the top -------------------------------------------------


@number("stack.cost_alone", unit="USD", digits=2)
def cost_alone() -> Quantity:
    """Least price of a million tokens when one reader has eight H100s alone."""
    return price(1)


@number("stack.cost_full", unit="USD", digits=2)
def cost_full() -> Quantity:
    """Least price of a million tokens when the eight H100s hold all they can."""
    return price(math.floor(room().si))


@number("stack.cost_fall", digits=2)
def cost_fall() -> Quantity:
    """How many times cheaper a token becomes when the chips are full."""
    return price(1) / price(math.floor(room().si))


@number("stack.batch_full", digits=3)
def batch_full() -> Quantity:
    """Sequences whose caches fit beside the weights on eight H100s."""
    return room()


@number("stack.link", unit="GB/s", evidence="spec")
def link_rate() -> Quantity:
    """What one H100 sends to the others, in one direction."""
    return hardware.get(DEVICE).link


@number("stack.link_gap", digits=2, evidence="spec")
def link_gap() -> Quantity:
    """How many times faster an H100 reads its own memory than it sends to others."""
    device = hardware.get(DEVICE)
    sent = Quantity(device.link.si, "B/s per_chip", label="link, one direction",
                    source=device.link.source, kind="spec")  # fmt: skip
    return device.memory_bandwidth / sent


@number("stack.bytes_4bit", unit="GB")
def bytes_4bit() -> Quantity:
    """Bytes the same token moves with weights and cache in four bits."""
    work = roofline.decode_work(
        models.get(MODEL), dtype="fp4", tp=CHIPS, context=CONTEXT
    )
    return work.bytes


@number("stack.read", unit="ms", family="E_decode")
def read_time() -> Quantity:
    """Least time to read what one token needs, on eight H100s."""
    return step(1).t_memory


@number("stack.transistors", digits=2, evidence="spec")
def transistors() -> Quantity:
    """Transistors on the die of one H100."""
    return hardware.get(DEVICE).transistors


@number("stack.die", unit="mm2", evidence="spec")
def die() -> Quantity:
    """Area of the die of one H100."""
    return hardware.get(DEVICE).die_area


# -- the journey -----------------------------------------------------------------


@number("journey.time", unit="ms", family="E_decode")
def journey_time() -> Quantity:
    """Least time of the whole journey, as far as it can be computed today."""
    return trip().time


@number("journey.memory_share", unit="%")
def memory_share() -> Quantity:
    """Share of the journey spent reading memory."""
    return trip().share(2)


@number("journey.link_share", unit="%", digits=2)
def link_share() -> Quantity:
    """Share of the journey spent on links, host and chip to chip."""
    return trip().share(5)


@number("journey.arithmetic_share", unit="%", digits=2)
def arithmetic_share() -> Quantity:
    """Time of all arithmetic over the time of the journey, under which it hides."""
    parts = [e.all("time") for e in trip().events if e.layer == 3]
    found = [part for part in parts if part is not None]
    return sum(found[1:], found[0]) / trip().time


@number("journey.layer_time", unit="µs")
def layer_time() -> Quantity:
    """Least time of one of the model's layers, exchanges included."""
    times = [e.time for e in trip().layer_events if not e.under]
    found = [time for time in times if time is not None]
    return sum(found[1:], found[0]).named("one layer")


@number("journey.attention_time", unit="µs")
def attention_time() -> Quantity:
    """Least time to read the attention weights of one layer."""
    return event_time("attention weights")


@number("journey.mlp_time", unit="µs")
def mlp_time() -> Quantity:
    """Least time to read the MLP weights of one layer."""
    return event_time("MLP weights")


@number("journey.exchange_time", unit="µs", digits=2)
def one_exchange() -> Quantity:
    """Least time in which eight H100s add up one hidden state, each to each."""
    return event_time("the chips add up, after attention")


@number("journey.number", unit="B", evidence="spec")
def number_bytes() -> Quantity:
    """Bytes of a token's number in the vocabulary, as programs pass it."""
    read = event("the word's number").bytes
    assert read is not None
    return read


@number("journey.units", evidence="spec")
def units() -> Quantity:
    """Compute units of one H100."""
    return hardware.get(DEVICE).compute_units


@number("journey.layers", evidence="spec")
def layers_of_model() -> Quantity:
    """Layers of Llama-3-70B."""
    model = models.get(MODEL)
    return Quantity(model.layers, label="layers", kind="config", source=model.source)


@number("journey.exchanges", evidence="spec")
def exchanges() -> Quantity:
    """Exchanges of one token: two in each layer of the model."""
    model = models.get(MODEL)
    layers = Quantity(model.layers, label="layers", kind="config", source=model.source)
    return 2 * layers


@number("journey.exchange_wires", unit="µs", digits=2)
def exchange_wires() -> Quantity:
    """What of one exchange is bytes on the wire; the rest is waiting for the first."""
    return (
        event_time("the chips add up, after attention")
        - hardware.link(hardware.get(DEVICE).link_key).latency
    )


@number("journey.ring_crossings", evidence="spec")
def ring_crossings() -> Quantity:
    """Crossings of one exchange round a ring: pieces added up, then passed on."""
    chips = Quantity(CHIPS, label="chips", kind="assumption")
    return 2 * (chips - 1)


@number("journey.ring_added", unit="ms", digits=2)
def ring_added() -> Quantity:
    """What the journey gains in time when the chips pass pieces round a ring."""
    return trip("ring").time - trip().time


@number("journey.row", unit="kB", evidence="spec")
def row() -> Quantity:
    """Bytes of one token's vector between layers, in bf16."""
    read = event("its row").bytes
    assert read is not None
    return read


@number("journey.row_time", unit="ns")
def row_time() -> Quantity:
    """Least time to fetch one row of the embedding from memory."""
    return event_time("its row")


@number("journey.row_wires", unit="ns", digits=2)
def row_wires() -> Quantity:
    """What of that is bytes on the wires."""
    read = event("its row").bytes
    assert read is not None
    return read / hardware.get(DEVICE).memory_bandwidth


@number("journey.kv_layer", unit="B")
def kv_layer() -> Quantity:
    """Keys and values that the token leaves in one layer, on one of eight chips."""
    model = models.get(MODEL)
    layers = Quantity(model.layers, label="layers", kind="config", source=model.source)
    chips = Quantity(CHIPS, label="chips", kind="assumption")
    return model.kv_bytes_per_token(DTYPE) / layers / chips


@number("journey.energy_known", unit="J", digits=2)
def energy_known() -> Quantity:
    """Energy of the arithmetic, from a figure fitted on measured matrix products."""
    return trip().energy


@number("journey.energy_ceiling", unit="J", digits=2)
def energy_ceiling() -> Quantity:
    """Energy if all eight chips drew their design power throughout."""
    return trip().energy_ceiling


@number("journey.energy_memory", unit="J", digits=2)
def energy_memory() -> Quantity:
    """Energy of reading the bytes, were HBM3 like HBM2, whose figure is published."""
    return trip().memory_bytes.to("bit") * hardware.memory("hbm2").energy


@number("journey.energy_explained", unit="%", digits=2)
def energy_explained() -> Quantity:
    """Arithmetic and reading over what the chips draw at most."""
    both = trip().energy + energy_memory()
    return both / trip().energy_ceiling


@number("journey.price", unit="USD", digits=2)
def journey_price() -> Quantity:
    """Rent of eight H100s for the time of the journey."""
    return trip().price


@number("journey.hidden", digits=4, evidence="spec")
def hidden() -> Quantity:
    """Numbers in a token's vector between the layers of Llama-3-70B."""
    read = event("its row").bytes
    assert read is not None
    return read / bytes_per_element(DTYPE)


# -- the readiness page ----------------------------------------------------------


def _register(question: readiness.Question) -> None:
    def compute() -> Quantity:
        return question.answer

    compute.__doc__ = f"{question.what}."
    compute.__qualname__ = question.key
    unit = question.unit or None
    number(f"readiness.{question.key}", unit=unit, digits=4, evidence="spec")(compute)


for _question in readiness.QUESTIONS:
    _register(_question)

"""Setup of section 1.8 Where is the token now?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware, models, roofline
from stacklib.quantity import Quantity, bytes_per_element, chosen
from stacklib.roofline import DecodeStep
from stacklib.roofline.journey.events import Event
from stacklib.roofline.journey.token_journey import Journey, journey
from stacklib.roofline.work.moving import memory_time

MODEL, DEVICE, DTYPE, CHIPS, CONTEXT = "llama-3-70b", "h100-sxm", "bf16", 8, 4096
ADDING = "the chips add up, after attention"


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


def arithmetic_share() -> Quantity:
    """Time of all arithmetic over the time of the journey, under which it hides."""
    parts = [e.all("time") for e in trip().events if e.layer == 3]
    found = [part for part in parts if part is not None]
    return sum(found[1:], found[0]) / trip().time


def layer_time() -> Quantity:
    """Least time of one of the model's layers, exchanges included."""
    times = [e.time for e in trip().layer_events if not e.under]
    found = [time for time in times if time is not None]
    return sum(found[1:], found[0]).named("one layer")


def number_bytes() -> Quantity:
    """Bytes of a token's number in the vocabulary, as programs pass it."""
    read = event("the word's number").bytes
    assert read is not None
    return read


def layers_of_model() -> Quantity:
    """Layers of Llama-3-70B."""
    return models.get(MODEL).size("layers", "layers")


def exchanges() -> Quantity:
    """Exchanges of one token: two in each layer of the model."""
    return 2 * layers_of_model()


def all_exchanges(on: str = DEVICE) -> Quantity:
    """Time of all exchanges of one token."""
    there = journey(MODEL, on=on, dtype=DTYPE, tp=CHIPS, context=CONTEXT)
    each = next(e.time for e in there.events if e.what.startswith(ADDING))
    assert each is not None
    return (exchanges() * each).named("time of all exchanges")


def ring_crossings() -> Quantity:
    """Crossings of one exchange round a ring: pieces added up, then passed on."""
    return 2 * (chosen(CHIPS, label="chips") - 1)


def row() -> Quantity:
    """Bytes of one token's vector between layers, in bf16."""
    read = event("its row").bytes
    assert read is not None
    return read


def row_wires() -> Quantity:
    """What of that is bytes on the wires."""
    read = event("its row").bytes
    assert read is not None
    return memory_time(read, DEVICE)


def energy_memory() -> Quantity:
    """Energy of reading the bytes, were HBM3 like HBM2, whose figure is published."""
    return trip().memory_bytes.to("bit") * hardware.memory("hbm2").energy


def energy_explained() -> Quantity:
    """Arithmetic and reading over what the chips draw at most."""
    both = trip().energy + energy_memory()
    return both / trip().energy_ceiling


def hidden() -> Quantity:
    """Numbers in a token's vector between the layers of Llama-3-70B."""
    read = event("its row").bytes
    assert read is not None
    return read / bytes_per_element(DTYPE)

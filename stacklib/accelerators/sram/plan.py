"""A model in the memory that is on the chips: how many it takes, and what they do.

The sum is that of any memory, weights and cache of all sequences over the capacity of a
chip. What is other is its size: a chip holds less than a thousandth of the model, so
the chips are counted in hundreds, and each further conversation is paid in chips.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from statistics import pvariance
from typing import Any

from stacklib import cost
from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.models.weights.mixtures import cache_format
from stacklib.quantity import Quantity, chosen, one_of
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import Infeasible, fit_sum, model_of
from stacklib.serving.token.lines import Account
from stacklib.serving.token.work import EXCHANGES

from .placed import placed_account
from .static import Slot, latencies, timetable

SLACK = 1e-12  # of a chip that is full to the last byte, in floating point
PICO = 1e-12  # s: the cycle of a plan's timetable
ENDLESS = 2**40  # tokens: what holds so many of them holds any number
WHOLE_GB = 1e9  # B from which on a capacity is told in GB
YEARS = 5.0  # that what is bought serves, as ``cost.token`` spreads it


@dataclass(frozen=True, slots=True)
class SramPlan:
    """A model on chips without other memory; quantities open to their sources.

    - ``chips``, ``stages``: all chips, and the groups of them that a token passes one
      after the other
    - ``batch``, ``context``: sequences held, and tokens cached in each
    - ``weights``, ``cache``, ``have``: bytes of the model, of all sequences' caches,
      and of all chips' memory
    - ``account``: the lines of one token of one sequence, a roof
    """

    model: LanguageModel
    device: Accelerator
    dtype: str | Quantity | None
    kv_dtype: str | Quantity
    chips: int
    stages: int
    batch: int
    context: int
    weights: Quantity
    cache: Quantity
    have: Quantity
    account: Account

    @property
    def free(self) -> Quantity:
        """Bytes beside the weights: all that conversations can have."""
        return (self.have - self.weights).named("left for the cache")

    @property
    def conversations(self) -> int | None:
        """Sequences of this context that fit beside the weights; None: any number."""
        each = self.model.kv_bytes(self.context, self.kv_dtype).si
        return int(self.free.si / each + SLACK) if each else None

    @property
    def longest(self) -> int | None:
        """Tokens of the longest context that fits for the batch; None: any."""
        return longest(self.model, self.free.si / self.batch, self.kv_dtype)

    @property
    def time(self) -> Quantity:
        """Seconds of a token of one sequence."""
        found: Quantity = self.account.total()
        return found

    @property
    def reading(self) -> Quantity:
        """Seconds in which the bytes of one sequence's token are read, all stages."""
        turns = chosen(self.stages, label="stages")
        rate = self.device.memory_bandwidth.across(self.chips)
        each = self.cache / chosen(self.batch, label="sequences")
        moved = (self.weights + each).named("weights and a cache")
        return (turns * moved / rate).named("reading, stage by stage")

    @property
    def tokens_per_s(self) -> Quantity:
        """Tokens a second of all sequences of the batch together."""
        many = chosen(self.batch, "token", label="tokens at once")
        return (many / self.time).to("token/s").named("tokens a second")

    @property
    def roof(self) -> Quantity:
        """Tokens a second with one sequence in every stage: all chips work."""
        busy = [x.time for x in self.account.lines if x.name != EXCHANGES]
        timed = [time for time in busy if time is not None]
        passing = sum(timed[1:], timed[0])
        many = chosen(self.stages, "token", label="tokens, one a stage")
        return (many / passing).to("token/s").named("roof of all chips")

    def static(self, tokens: int = 8) -> tuple[Slot, ...]:
        """The timetable of some tokens, in picoseconds: when each is in which stage.

        - ``tokens``: that enter as soon as the first stage is free
        """
        links = self.account[EXCHANGES].time
        crossing = 0.0 if links is None else links.si
        inside, between = self.time.si - crossing, max(self.stages - 1, 1)
        busy = max(1, round(inside / self.stages / PICO))
        return timetable(self.stages, busy, round(crossing / between / PICO), tokens)

    @property
    def variance(self) -> float:
        """Of the picoseconds that tokens take on the timetable: none."""
        return pvariance(latencies(self.static()))

    @property
    def power(self) -> Quantity | None:
        """Printed power of all chips; None where none is published."""
        watts = self.device.fields.get("tdp")
        if watts is None:
            return None
        return watts.across(self.chips).named("power of all chips")

    @property
    def joules(self) -> Quantity | None:
        """Energy of a token at the printed power, shared by the batch; or None."""
        power = self.power
        return None if power is None else (power / self.tokens_per_s).to("J/token")

    def dollars(
        self, price: Quantity | None = None, years: float = YEARS
    ) -> Quantity | None:
        """What a million tokens cost in chips alone, if they never pause.

        - ``price``: of one chip; default what buyers are said to pay, None: unknown
        - ``years``: that a chip serves
        """
        above_zero(years=years)
        if price is None:
            quotes = [q.value for q in _quotes(self.device)]
            price = min(quotes, key=lambda q: q.si) if quotes else None
        if price is None:
            return None
        life = years * one_of("year")
        hourly = price.across(self.chips) / life
        return (hourly / self.tokens_per_s).to("USD/Mtoken").named("chips, a token")


def _quotes(device: Accelerator) -> list[Any]:
    """Prices to buy the device, new."""
    known = device.key in cost.names("prices")
    return [*cost.prices(device.key, "purchase")] if known else []


def sram_machine(
    model: str | LanguageModel,
    *,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    batch: int = 1,
    context: int = 4096,
    chips: int | None = None,
    stages: int | None = None,
    kv_dtype: str | Quantity | None = None,
) -> SramPlan:
    """Lay a model out on chips whose memory is SRAM.

    Parameters
    ----------
    on : str or Accelerator
        A chip without a memory outside, ``"groq-lpu"`` or ``"wse3"``.
    dtype, kv_dtype : str, Quantity or None
        How weights and cache are kept, as ``serving.account`` takes them.
    batch, context : int
        Sequences that the chips hold at once, and tokens cached in each.
    chips : int, optional
        Default the fewest that hold weights and caches.
    stages : int, optional
        Groups of chips (or parts of one) that a token passes in turn; default one a
        layer, as such machines are laid out. 1: all chips share every matrix.

    Raises
    ------
    Infeasible
        With the sum, where it does not fit the chips, or takes more of them than can
        be joined.
    ValueError
        For a chip with a memory outside, or sizes that make no sense.
    UnknownName, UnknownSpec
        For what nothing knows: names, a rate for the products.

    Examples
    --------
    >>> sram_machine("llama-3-70b", on="groq-lpu", dtype="int8").chips
    310
    """
    held, device = model_of(model), device_of(on)
    whole(batch=batch)
    whole(0, context=context)
    batch, context = int(batch), int(context)  # NumPy's narrow numbers run over
    if "SRAM" not in device.memory_type:
        raise ValueError(
            f"on = {device.key!r}: its memory is {device.memory_type}; compare() takes "
            "chips of any kind"
        )
    way = way_of(held, dtype)
    cached = cache_format(
        way.cache_on(device.formats) if kv_dtype is None else kv_dtype
    )
    weights = held.weight_bytes(dtype)
    each = chosen(batch, label="sequences")
    cache = (each * held.kv_bytes(context, cached)).named("KV cache")
    capacity = device.memory_capacity
    need = (weights + cache).si
    many = fewest(need, capacity.si) if chips is None else chips
    whole(chips=many)
    layers = held.layers if stages is None else stages
    whole(stages=layers)
    if layers > held.layers:
        raise ValueError(f"stages = {layers}: {held.key} has {held.layers} layers")
    _refuse(held, device, weights, cache, many)
    asked: dict[str, Any] = {"batch": batch, "context": context, "kv_dtype": cached}
    account = placed_account(held, device, dtype, chips=many, stages=layers, **asked)
    have = capacity.across(many).named("memory of all chips")
    sizes = (many, layers, batch, context, weights, cache, have)
    return SramPlan(held, device, dtype, cached, *sizes, account)


def fewest(need: float, capacity: float) -> int:
    """Chips of some capacity that hold so many bytes, shared evenly."""
    return max(1, ceil(need / capacity - SLACK))


def _refuse(
    model: LanguageModel, device: Accelerator, weights: Any, cache: Any, chips: int
) -> None:
    """Say the sum where it is too much for the chips, or the chips too many."""
    words = f"({weights:.4 GB} weights + {cache:.4 GB} KV)"
    capacity = device.memory_capacity
    unit = "GB" if capacity.si >= WHOLE_GB else "MB"
    need = fit_sum(weights, cache, chosen(chips, label="chips"))
    if need.si > capacity.si * (1 + SLACK):
        enough = fewest((weights + cache).si, capacity.si)
        raise Infeasible(
            f"{model.key}: {words} / {chips} = {need.text(unit, 4)} > "
            f"{capacity.text(unit, 4)} on "
            f"{device.short}: does not fit; {enough} chips hold it"
        )
    domain = device.fields.get("link_domain")
    if domain is not None and chips > domain.si:
        raise Infeasible(
            f"{model.key}: {words} / {capacity.text(unit, 4)} = {chips} chips > "
            f"{domain:.4} that can be joined, on {device.short}: does not fit"
        )


def longest(model: LanguageModel, room: float, kv_dtype: str | Quantity) -> int | None:
    """Tokens of the longest context whose cache is not more than ``room`` bytes.

    None where any context fits: layers that keep a state or a window alone.
    """

    def fits(tokens: int) -> bool:
        return bool(model.kv_bytes(tokens, kv_dtype).si <= room * (1 + SLACK))

    if fits(ENDLESS):
        return None
    low, high = 0, ENDLESS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

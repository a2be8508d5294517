"""The events of a token's journey: what happens, how long at least, what it moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.hardware.links import Link
from stacklib.models import LanguageModel, Matrix
from stacklib.models.block import Block
from stacklib.models.weights.kept import one_format
from stacklib.quantity import (
    Quantity,
    assumed,
    bytes_per_element,
    chosen,
    counted,
    one_of,
)
from stacklib.quantity import dtype as find_dtype

from ..work.fit import kv_copies

NUMBER_BYTES = 4  # a token's number in the vocabulary, as programs pass it
BEFORE, PER_LAYER = 4, 8  # events before the layers; events of one layer


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens to the token."""

    layer: int  # layer of the stack, a key of ``LAYERS``
    what: str  # what happens, for tables
    time: Quantity | None = None
    bytes: Quantity | None = None  # bytes that one moves, over all chips
    energy: Quantity | None = None  # energy of one; None where no figure is published
    times: int = 1  # how often it happens
    under: bool = False  # whether it runs while memory is read, and so adds no time
    chapter: int = 1  # which chapter replaces it by a better one

    def all(self, field: str) -> Quantity | None:
        """A ``field`` (``time``, ``bytes`` or ``energy``) of all of them together."""
        one = getattr(self, field)
        if one is None:
            return None
        often = chosen(self.times, label=f"times: {self.what}")
        return often * one


def exchange_time(
    size: Any, chips: Any, bandwidth: Any, latency: Any, ring: bool = False
) -> Any:
    """Least time in which ``chips`` add up a vector that each of them holds.

    Direct: each sends its whole vector to every other at once, one crossing. Ring:
    each passes on one piece at a time, ``2 (chips - 1)`` crossings.

    ``size``: bytes of the vector; ``bandwidth``, ``latency``: bytes a second out of one
    chip; seconds of one crossing.
    """
    others = chips - 1
    if ring:
        return 2 * others * latency + 2 * others / chips * size / bandwidth
    return latency + others * size / bandwidth


class _EventMaker:
    """Sizes of one model on one device, and the events made of them."""

    def __init__(
        self,
        model: LanguageModel,
        device: Accelerator,
        dtype: str,
        tp: int,
        context: int,
        ring: bool,
    ) -> None:
        row = one_format(model, dtype)
        self.model, self.device, self.ring = model, device, ring
        self.dtype = row.numbers or dtype
        self.tp = chosen(tp, label="chips")
        self.context = chosen(context, label="context")
        self.width = bytes_per_element(row.name)
        self.bandwidth = device.memory_bandwidth.across(self.tp)
        self.copies = kv_copies(model, tp, context, read=True)

    def size(self, value: int, label: str) -> Quantity:
        """A count from the model's config."""
        return Quantity(
            value,
            label=label,
            kind="config",
            source=self.model.source,
            key=f"{self.model.key}.{label}",
        )

    def link(self, field: str, words: str) -> Link:
        """The device's link of one kind; UnknownSpec where the database has none."""
        key = getattr(self.device, field)
        if not key:
            raise UnknownSpec(f"{self.device.key}: which {words} it has is unknown")
        return hardware.link(key)

    def events(self) -> Iterator[Event]:
        """Everything, in order."""
        yield Event(6, "the request waits its turn", chapter=8)
        yield self._cross("the word's number goes to the chips")
        yield Event(
            2,
            "its row of the embedding is read",
            self.row_time(),
            self.row(),
            chapter=3,
        )
        yield Event(4, "kernels are launched", chapter=4)
        for number, block in enumerate(self.model.kinds):
            yield from self._layer(block, self.model.count(number))
        yield from self._head()
        yield Event(4, "one word is drawn from the scores", chapter=4)
        yield self._cross("the new word's number goes back")
        yield Event(6, "the word travels to the reader", chapter=8)

    # -- what moves ----------------------------------------------------------

    def row(self) -> Quantity:
        """Bytes of one row of the embedding, which is the hidden state too."""
        return (self.size(self.model.hidden, "hidden size") * self.width).named(
            "hidden state"
        )

    def row_time(self) -> Quantity:
        """Latency of one load from memory, then the row on one chip's wires."""
        wait = hardware.level(self.device, "dram").known("latency")
        return (wait + self.row() / self.device.memory_bandwidth).named("one row")

    def crossing(self) -> Quantity:
        """A word's number over the host link."""
        link = self.link("host_link_key", "host link")
        number = assumed(
            NUMBER_BYTES, "B", "a token's number", why="Tokens are numbered in int32."
        )
        return link.latency + number / link.per_direction

    def exchange(self) -> Quantity:
        """All chips add up one hidden state."""
        link = self.link("link_key", "scale-up link")
        return exchange_time(
            self.row(), self.tp, link.per_direction, link.latency, self.ring
        )

    def gather(self) -> Quantity:
        """Every chip's share of the scores goes to the others, in one crossing."""
        link = self.link("link_key", "scale-up link")
        scores = self.size(self.model.vocab, "vocabulary") * self.width
        return link.latency + (self.tp - 1) / self.tp * scores / link.per_direction

    def _read(self, what: str, moved: Quantity, times: int = 1) -> Event:
        return Event(2, what, moved / self.bandwidth, moved, times=times, chapter=3)

    def _cross(self, what: str) -> Event:
        number = assumed(
            NUMBER_BYTES, "B", "a token's number", why="Tokens are numbered in int32."
        )
        link = self.link("host_link_key", "host link")
        energy = link.fields["energy"]
        joules = number.to("bit") * energy if energy is not None else None
        return Event(5, what, self.crossing(), number, joules, chapter=6)

    def _add_up(self, what: str, times: int) -> Event:
        if self.tp.si == 1:
            nothing = chosen(0, "B", label="one chip")
            return Event(5, what, nothing / self.bandwidth, nothing, times=times)
        sent = self.tp * (self.tp - 1) * self.row()
        if self.ring:
            sent = 2 * (self.tp - 1) * self.row()
        return Event(5, what, self.exchange(), sent, times=times, chapter=6)

    # -- what is computed ----------------------------------------------------

    def _compute(self, what: str, operations: Quantity, times: int = 1) -> Event:
        peak = self.device.peak(self.dtype).across(self.tp)
        fmt = find_dtype(self.dtype)
        if fmt.operation != "FLOP":
            operations = (
                operations / one_of(operations.unit) * one_of(fmt.operation)
            ).named(operations.label)
        return Event(
            3, what, operations / peak, None, self._joules(operations), times, True, 2
        )

    def _joules(self, operations: Quantity) -> Quantity | None:
        """Energy of 16-bit tensor arithmetic where it was fitted; else unknown."""
        name = hardware.microarchitecture(self.device).tensor_energy
        if not name or self.dtype not in ("bf16", "fp16"):
            return None
        return operations * hardware.efficiency_quantity(name)

    def _products(self, matrices: Iterable[Matrix]) -> tuple[Quantity, Quantity]:
        """Parameters that a token passes, read and multiplied."""
        used = [m.used * m.each for m in matrices]
        passed = counted(sum, used, label="parameters passed")
        flop = (2 * one_of("FLOP")).named("FLOP per parameter")
        return passed * self.width, flop * passed

    def _layer(self, block: Block, times: int) -> Iterator[Event]:
        model, hidden = self.model, self.model.hidden
        attention = block.attention.matrices(hidden)
        rest = [m for m in block.matrices(hidden) if m not in attention]
        norms = Matrix("norms", block.vectors(hidden), 1)
        layers = self.size(model.layers, "layers")
        kv = model.kv_bytes_per_token(self.dtype) / layers * self.copies
        pairs = model.attention_flops_per_token_pair / layers
        moved, flop = self._products([*attention, norms])
        yield self._read("attention weights are read", moved, times)
        yield self._read("keys and values so far are read", self.context * kv, times)
        yield self._read("its own key and value are written", kv, times)
        flop = flop + (self.context + 1) * pairs
        yield self._compute("attention is computed", flop, times)
        yield self._add_up("the chips add up, after attention", times)
        moved, flop = self._products(rest)
        yield self._read("MLP weights are read", moved, times)
        yield self._compute("the MLP is computed", flop, times)
        yield self._add_up("the chips add up, after the MLP", times)

    def _head(self) -> Iterator[Event]:
        model = self.model
        norms = (model.final_norm + model.embedding_norm) * model.hidden
        head = Matrix("output", model.hidden, model.vocab, model.head_bias)
        moved, flop = self._products([head, Matrix("norm", norms, 1)])
        yield self._read("the output matrix is read", moved)
        yield self._compute("a score for every word is computed", flop)
        if self.tp.si > 1:
            scores = self.size(model.vocab, "vocabulary") * self.width
            sent = (self.tp - 1) * scores
            yield Event(
                5,
                "the chips show each other their scores",
                self.gather(),
                sent,
                chapter=6,
            )

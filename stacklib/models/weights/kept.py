"""Weights as they are kept: every tensor in its format, and their bytes by format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from stacklib.quantity import Quantity, counted, resolve
from stacklib.quantity.keys import Same
from stacklib.quantity.stored import HALF, Stored, size_of_number

from ..parts import Experts
from .mixtures import Way, placed, way
from .tensors import Tensor

if TYPE_CHECKING:
    from ..language_model import LanguageModel

Placed = tuple[Tensor, Stored, float]  # a tensor, its format, its bytes


@dataclass(frozen=True, slots=True)
class Share:
    """What of a model is kept in one format: numbers, and bytes.

    - ``format``: the format
    - ``whole``: all of it
    - ``shared``: what every step reads, whatever its tokens choose
    - ``routed``: one expert in all layers that share a mixture, and that mixture
    """

    format: Stored
    whole: tuple[int, float]
    shared: tuple[int, float]
    routed: tuple[tuple[float, float, Experts], ...]

    def read(self, batch: Any) -> tuple[Any, Any]:
        """Numbers and bytes of a step, experts at their expected number; 0: of all."""
        if not batch:
            return self.whole
        numbers, nbytes = self.shared
        for some, wide, experts in self.routed:
            touched = experts.touched(batch)
            numbers, nbytes = numbers + some * touched, nbytes + wide * touched
        return numbers, nbytes


@dataclass(frozen=True)
class Kept:
    """Weights tensor by tensor, and what is said of them."""

    way: Way
    tensors: tuple[Placed, ...]

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """By format, the largest first."""
        found: dict[str, list[Placed]] = {}
        for row in self.tensors:
            found.setdefault(row[1].name, []).append(row)
        return tuple(sorted(map(_share, found.values()), key=lambda s: -s.whole[1]))

    @cached_property
    def bytes_per_number(self) -> dict[tuple[int, str], float]:
        """By layer and name, biases with their matrix; ``""``: of the whole layer."""
        sums: dict[tuple[int, str], list[float]] = {}
        for tensor, _, nbytes in self.tensors:
            fused = tensor.name == "qkv"
            for key in (*(("q", "k", "v") if fused else (tensor.name,)), ""):
                total = sums.setdefault((tensor.layer, key), [0.0, 0.0])
                total[0] += nbytes
                total[1] += tensor.numbers
        return {key: nbytes / numbers for key, (nbytes, numbers) in sums.items()}

    @property
    def nbytes(self) -> float:
        """Bytes of all weights."""
        return sum(s.whole[1] for s in self.shares)

    @property
    def summary(self) -> str:
        """Bytes by format, and bits a parameter, in a line."""
        parts = [f"{s.whole[1] / 1e9:.3g} GB {s.format.name}" for s in self.shares]
        numbers = sum(s.whole[0] for s in self.shares)
        return f"{' + '.join(parts)}, {8 * self.nbytes / numbers:.3g} bits a parameter"


def _share(rows: list[Placed]) -> Share:
    routed: dict[Experts, list[float]] = {}
    for t, _, nbytes in rows:
        if t.experts:
            each = routed.setdefault(t.experts, [0.0, 0.0])
            each[0] += t.numbers / t.experts.experts
            each[1] += nbytes / t.experts.experts
    return Share(
        rows[0][1],
        _sum(rows),
        _sum(row for row in rows if row[0].read and not row[0].experts),
        tuple((some, wide, e) for e, (some, wide) in routed.items()),
    )


def _sum(rows: Iterable[Placed]) -> tuple[int, float]:
    rows = [*rows]
    return sum(t.numbers for t, _, _ in rows), sum(nbytes for _, _, nbytes in rows)


def size_of(tensor: Tensor, row: Stored) -> float:
    """Bytes of a tensor in a format, blocks at the ends of rows filled up."""
    return tensor.many * row.nbytes(tensor.inputs, tensor.outputs)


def way_of(model: LanguageModel, dtype: str | Quantity | None) -> Way:
    """How weights are kept under a name; None: see ``kept``."""
    if dtype is None and model.kept is not None:
        return model.kept.way
    return way(HALF if dtype is None else dtype)


def one_format(model: LanguageModel, dtype: str | Quantity | None) -> Stored:
    """The format of every number; ``ValueError`` where weights are kept in several."""
    row = way_of(model, dtype).element
    if row is None:
        raise ValueError(
            f"dtype = {dtype!r} keeps weights in several formats: one for every number "
            "is counted here, such as bf16 or e4m3fn"
        )
    return row


def kept(model: LanguageModel, dtype: str | None = None) -> Kept:
    """Every tensor of a model in its format, under a name or as it was released.

    - ``dtype``: a format or a mixture; None: as the model's file or its release's
      config says, or bf16 where neither does
    - raises ``UnknownName`` for a name that is neither, with the nearest
    """
    if dtype is None and model.kept is not None:
        return model.kept
    return _kept(Same(model), dtype or HALF)


@lru_cache(maxsize=64)
def _kept(key: Same, dtype: str) -> Kept:
    rows = ((t, row, size_of(t, row)) for t, row in placed(key.value, dtype))
    return Kept(way(dtype), tuple(rows))


def numbers_in(
    model: LanguageModel, dtype: str | None, format: str, batch: float = 0
) -> float:
    """Numbers that a model keeps in one format, or of them those that a step reads.

    - ``dtype``: how its weights are kept, as ``kept`` takes it
    - ``format``: one of the formats of ``kept(model, dtype).shares``
    - ``batch``: sequences of the step; 0: all numbers, read or not
    """
    return _share_in(model, dtype, format).read(batch)[0]


def bytes_beside(
    model: LanguageModel, dtype: str | None, format: str, batch: float = 0
) -> float:
    """Bytes of scales that no block counts: of columns, tensors and ends of rows."""
    share = _share_in(model, dtype, format)
    numbers, nbytes = share.read(batch)
    return nbytes - numbers * share.format.bits / 8


def _share_in(model: LanguageModel, dtype: str | None, format: str) -> Share:
    shares = {share.format.name: share for share in kept(model, dtype).shares}
    return shares[resolve(format, shares, "format of these weights", exact=True)]


def bytes_of(
    model: LanguageModel, dtype: str | Quantity | None, batch: int = 0
) -> Quantity:
    """Bytes of a model's weights, or of those that a step reads.

    Of one format the closed count times its size, of several a sum by format.
    """
    row = way_of(model, dtype).element
    if row is not None:
        many = model.read_parameters(batch) if batch else model.parameters
        each = dtype.to("B") if isinstance(dtype, Quantity) else size_of_number(row)
        return many * each
    assert not isinstance(dtype, Quantity)
    parts = []
    for share in kept(model, dtype).shares:
        numbers, nbytes = share.read(batch)
        if nbytes:
            told = (model, dtype, share.format.name, batch)
            parts.append(_told(share.format, numbers, nbytes, told))
    return sum(parts[1:], parts[0])


def _told(row: Stored, numbers: float, nbytes: float, told: Any) -> Quantity:
    """Bytes in one format: numbers times their size, and scales besides."""
    words = f"numbers {'read ' if told[-1] else ''}in {row.name}"
    part = counted(numbers_in, *told, label=words) * size_of_number(row)
    if abs(nbytes - numbers * row.bits / 8) > 1e-9 * nbytes:
        words = f"scales beside {row.name}"
        part = part + counted(bytes_beside, *told, unit="B", label=words)
    return part.named(f"weights in {row.name}")

"""Kneser-Ney n-grams: the baseline a trained model has to beat.

Interpolated, with three discounts an order (Chen and Goodman, 1998, section 3). The
highest order counts occurrences; a lower one counts in how many different contexts
its n-gram was seen. Discounts start at their closed form and are then tuned on text
that was not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["NGram"]

Ids: TypeAlias = NDArray[np.int64]
Discounts: TypeAlias = tuple[tuple[float, float, float], ...]
STEPS = (0.5, 0.2, 0.05)  # of the search, in units of each discount's limit


@dataclass(frozen=True)
class Order:
    """Counts of one order: n-grams as numbers, and sums over each context."""

    grams: Ids  # sorted
    counts: Ids
    contexts: Ids  # sorted
    totals: Ids
    kinds: NDArray[np.int64]  # (contexts, 3): n-grams seen once, twice, more often


def count_order(keys: Ids, counts: Ids, vocab: int) -> Order:
    """An order from its distinct n-grams and their counts."""
    contexts, which = np.unique(keys // vocab, return_inverse=True)
    totals = np.bincount(which, weights=counts).astype(np.int64)
    kinds: Ids = np.zeros((len(contexts), 3), dtype=np.int64)
    np.add.at(kinds, (which, np.minimum(counts, 3) - 1), 1)
    return Order(keys, counts, contexts, totals, kinds)


def look_up(
    sorted_keys: Ids, values: NDArray[np.int64], keys: Ids
) -> NDArray[np.int64]:
    """The values of keys, zeros where a key was never seen."""
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    seen = sorted_keys[at] == keys
    return np.where(seen if values.ndim == 1 else seen[:, None], values[at], 0)


def counted(order: Order, keys: Ids, vocab: int) -> tuple[NDArray[np.int64], ...]:
    """Count of each n-gram, and total and kinds of its context."""
    contexts = keys // vocab
    return (
        look_up(order.grams, order.counts, keys),
        look_up(order.contexts, order.totals, contexts),
        look_up(order.contexts, order.kinds, contexts),
    )


@dataclass(frozen=True)
class NGram:
    """A Kneser-Ney model of ids."""

    ids: Ids  # (tokens,) text to count
    vocab: int  # ids there are; ``vocab ** order`` must stay below 2 ** 63
    order: int  # longest n-gram
    discounts: Discounts | None = None
    orders: tuple[Order, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ids = np.asarray(self.ids, dtype=np.int64)
        if self.order < 1 or len(ids) < self.order:
            raise ValueError(f"order = {self.order} over {len(ids)} tokens")
        if ids.min() < 0 or ids.max() >= self.vocab:
            raise ValueError(
                f"ids reach {ids.min()} to {ids.max()}, vocab {self.vocab}"
            )
        # An n-gram is one number of 63 bits, its first token in the highest digits.
        if self.vocab**self.order >= 2**63:
            raise ValueError(f"{self.vocab} ** {self.order} n-grams do not fit 63 bits")
        keys, counts = np.unique(self._keys(ids, self.order), return_counts=True)
        orders = [count_order(keys, counts.astype(np.int64), self.vocab)]
        for n in range(self.order - 1, 0, -1):
            keys, counts = np.unique(keys % self.vocab**n, return_counts=True)
            orders.append(count_order(keys, counts.astype(np.int64), self.vocab))
        object.__setattr__(self, "orders", tuple(reversed(orders)))
        if self.discounts is None:
            closed = tuple(closed_form(order.counts) for order in self.orders)
            object.__setattr__(self, "discounts", closed)

    def _keys(self, ids: Ids, n: int) -> Ids:
        """Each n-gram of ``ids`` as one number, first token in the highest digits."""
        count = len(ids) - n + 1
        keys: Ids = np.zeros(max(0, count), dtype=np.int64)
        for place in range(n):
            keys = keys * self.vocab + ids[place : place + count]
        return keys

    def _found(self, ids: Ids) -> list[tuple[NDArray[np.int64], ...]]:
        """For each order and each position: count, total and kinds of its context."""
        padded = self._padded(ids)
        return [
            counted(order, self._keys(padded[self.order - n :], n), self.vocab)
            for n, order in enumerate(self.orders, 1)
        ]

    def _padded(self, ids: Ids) -> Ids:
        """Before the first id stands the end of a document, the vocabulary's last."""
        return np.concatenate([np.full(self.order - 1, self.vocab - 1), ids])

    def following(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """Probability of each id of the vocabulary after these, (vocab,)."""
        assert self.discounts is not None
        padded = self._padded(np.asarray(ids, dtype=np.int64))
        every = np.arange(self.vocab)
        found = []
        for n, order in enumerate(self.orders, 1):
            context = self._keys(padded[len(padded) - n + 1 :], n - 1)
            found.append(counted(order, context * self.vocab + every, self.vocab))
        return mixed(found, self.discounts, self.vocab)

    def probabilities(self, ids: Ids) -> NDArray[np.float64]:
        """Probability of each id after those before it, in one text.

        ``ids``: (tokens,) scored text.
        """
        assert self.discounts is not None
        found = self._found(np.asarray(ids, dtype=np.int64))
        return mixed(found, self.discounts, self.vocab)

    def tuned(self, ids: Ids) -> NGram:
        """The same counts with the discounts under which ``ids`` surprise least.

        ``ids``: (tokens,) text that was not counted.
        """
        assert self.discounts is not None
        # On text that was neither counted nor is what the model is judged on.
        found = self._found(np.asarray(ids, dtype=np.int64))
        best = [list(three) for three in self.discounts]

        def loss() -> float:
            asked = tuple((a, b, c) for a, b, c in best)
            return -float(np.log(mixed(found, asked, self.vocab)).mean())

        least = loss()
        for step in STEPS:
            for three in best:
                for kind in range(3):
                    for move in (step * (kind + 1), -step * (kind + 1)):
                        before = three[kind]
                        # A discount stays below the count that it is taken from.
                        three[kind] = min(max(before + move, 0.01), kind + 0.99)
                        now = loss()
                        if now < least:
                            least = now
                        else:
                            three[kind] = before
        chosen = tuple((a, b, c) for a, b, c in best)
        return NGram(self.ids, self.vocab, self.order, chosen)


def closed_form(counts: Ids) -> tuple[float, float, float]:
    """Discounts from how many n-grams were seen once to four times.

    Chen and Goodman (1998), equation 26. Where one of the four is missing, 0.75.
    """
    n1, n2, n3, n4 = (int((counts == c).sum()) for c in (1, 2, 3, 4))
    if not n1 or not n2 or not n3:
        return (0.75, 0.75, 0.75)
    y = n1 / (n1 + 2 * n2)
    raw = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return tuple(min(max(d, 0.01), k + 0.99) for k, d in enumerate(raw))  # type: ignore[return-value]


def mixed(
    found: Sequence[tuple[NDArray[np.int64], ...]], discounts: Discounts, vocab: int
) -> NDArray[np.float64]:
    """Probabilities from lowest to highest order, each adding to the one below it."""
    p = np.full(len(found[0][0]), 1 / vocab)
    for (count, total, kinds), three in zip(found, discounts, strict=True):
        off = np.array([0.0, *three])[np.minimum(count, 3)]
        known = total > 0
        total = np.where(known, total, 1)
        p = np.where(
            known, (count - off) / total + kinds @ np.array(three) / total * p, p
        )
    return p

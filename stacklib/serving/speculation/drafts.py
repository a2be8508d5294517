"""Who proposes the next few tokens: a small model, counted n-grams, or a look-up.

A draft keeps what it knows of a sequence under the sequence's name. A small model has
keys and values of its own: its width and its layers are others, so nothing that the
large model has cached is of use to it, nor the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.quantity.bounds import whole
from stacklib.tinylm.forward import KVCache
from stacklib.tinylm.model import TinyLM
from stacklib.tinylm.ngram import NGram
from stacklib.tinylm.sampling import Sampling, draw

from .rule import Row, certain, distribution

# What may follow tokens that were drafted; None where anything may.
Allowed: TypeAlias = Callable[[Sequence[int]], NDArray[np.bool_] | None]


@dataclass(frozen=True, slots=True)
class Way:
    """How a sequence draws its tokens: its cuts, its generator, its grammar."""

    how: Sampling
    random: np.random.Generator
    allowed: Allowed = lambda drafted: None


@dataclass(frozen=True, slots=True)
class Proposal:
    """Drafted tokens, and the row that each was drawn from."""

    tokens: tuple[int, ...] = ()
    rows: tuple[Row, ...] = ()


class Draft:
    """What an engine asks of a draft; ``length``: tokens that it proposes, at most."""

    length: int

    def __post_init__(self) -> None:
        whole(length=self.length)

    def propose(
        self, name: Hashable, ids: Sequence[int], most: int, way: Way
    ) -> Proposal:
        """Up to ``most`` tokens after ``ids``, for the sequence of this name."""
        raise NotImplementedError

    def ids(self) -> int:
        """How many ids it chooses from: as many as the large model has."""
        raise NotImplementedError

    def forget(self, name: Hashable) -> None:
        """The sequence of this name has ended."""


@dataclass
class ModelDraft(Draft):
    """A small model with the same tokens as the large one, and its own cache.

    What it has read beyond what was kept is forgotten when it is next asked.

    - ``model``: TinyLM; the small one
    - ``length``: int; tokens that it proposes, at most
    """

    model: TinyLM
    length: int = 4
    _caches: dict[Hashable, tuple[list[int], KVCache]] = field(default_factory=dict)

    def propose(
        self, name: Hashable, ids: Sequence[int], most: int, way: Way
    ) -> Proposal:
        """Tokens drawn one after the other; none where its context is full."""
        context = self.model.config.max_position_embeddings
        most = min(most, self.length, 1 + context - len(ids))
        if most < 1:
            return Proposal()
        read, cache = self._caches.setdefault(name, ([], KVCache(self.model.config)))
        cache.truncate(min(_common(read, ids), len(ids) - 1))

        def logits(drafted: Sequence[int]) -> NDArray[np.float32]:
            unread = [*ids, *drafted][cache.length :]
            return self.model.logits(unread, cache, last_only=True)[-1]

        found = _drawn(logits, most, way, self.model.tokenizer.end)
        read[:] = [*ids, *found.tokens][: cache.length]
        return found

    def ids(self) -> int:
        """Those of the small model."""
        return self.model.config.vocab_size

    def forget(self, name: Hashable) -> None:
        """Drop its keys and values."""
        self._caches.pop(name, None)


@dataclass
class CountedDraft(Draft):
    """N-grams counted in some text beforehand: no cache, and no matrix.

    - ``grams``: NGram; its last id ends a document
    - ``length``: int; tokens that it proposes, at most
    """

    grams: NGram
    length: int = 4

    def propose(
        self, name: Hashable, ids: Sequence[int], most: int, way: Way
    ) -> Proposal:
        """Tokens drawn one after the other."""
        return _drawn(
            lambda drafted: np.log(self.grams.following([*ids, *drafted])),
            min(most, self.length),
            way,
            self.grams.vocab - 1,
        )

    def ids(self) -> int:
        """Those of the text that was counted."""
        return self.grams.vocab


@dataclass
class LookUpDraft(Draft):
    """What followed in this text when its last tokens stood there before.

    Prompt look-up (Saxena, 2023): no model at all, and no draw.

    - ``vocab``: int; ids there are, of which the last ends a document
    - ``length``: int; tokens that it proposes, at most
    - ``longest``: int; tokens of the end that are looked for, then fewer, down to one
    """

    vocab: int
    length: int = 4
    longest: int = 3

    def __post_init__(self) -> None:
        whole(vocab=self.vocab, length=self.length, longest=self.longest)

    def propose(
        self, name: Hashable, ids: Sequence[int], most: int, way: Way
    ) -> Proposal:
        """What followed the latest place with the longest equal end."""
        tokens: list[int] = []
        for token in self._followed(list(ids))[: max(0, min(most, self.length))]:
            may = way.allowed(tokens)
            if may is not None and not may[token]:
                break
            tokens.append(token)
            if token == self.vocab - 1:
                break
        return Proposal(tuple(tokens), tuple(certain(t, self.vocab) for t in tokens))

    def ids(self) -> int:
        """As it was told."""
        return self.vocab

    def _followed(self, ids: list[int]) -> list[int]:
        for size in range(min(self.longest, len(ids) - 1), 0, -1):
            end = ids[-size:]
            for at in range(len(ids) - size - 1, -1, -1):
                if ids[at : at + size] == end:
                    return ids[at + size :]
        return []


def _drawn(
    logits: Callable[[Sequence[int]], ArrayLike], most: int, way: Way, end: int
) -> Proposal:
    """Tokens drawn one after the other, up to one that ends the document."""
    tokens: list[int] = []
    rows: list[Row] = []
    while len(tokens) < most and end not in tokens:
        may = way.allowed(tokens)
        if may is not None and not may.any():
            break
        rows.append(distribution(logits(tokens), way.how, may))
        tokens.append(draw(rows[-1], way.random))
    return Proposal(tuple(tokens), tuple(rows))


def _common(read: Sequence[int], ids: Sequence[int]) -> int:
    """How many tokens at the start are the same."""
    pairs = enumerate(zip(read, ids, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(read), len(ids)))

"""How well a model predicts text it never saw: bits a byte, with an interval.

Bits a byte compare models whatever their tokens are. Every token is scored once, and
so is the end of each document. A document longer than the context is read in windows
that overlap by half, so a token has at least half a context before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .corpus import Document
from .forward import log_softmax
from .model import TinyLM
from .ngram import NGram
from .record import TAILS
from .tokenizer import Tokenizer

RESAMPLES = 10_000

Scorer = Callable[[Sequence[int]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Score:
    """What one document cost."""

    name: str  # of the document
    tokens: int  # scored tokens, the end among them
    bytes: int  # bytes of its text
    nats: float  # sum of -ln p over the tokens


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval over resampled documents."""

    value: float
    low: float
    high: float


def surprise(model: TinyLM, ids: Sequence[int]) -> NDArray[np.float64]:
    """-ln p of each id after those before it; before the first stands the end id.

    ``ids``: (tokens,) one document.
    """
    read = np.array([model.tokenizer.end, *ids])
    limit = model.config.max_position_embeddings
    costs: list[NDArray[np.float64]] = []
    done = 0
    for start in range(0, max(1, len(ids) - limit // 2), limit // 2):
        window = read[start : start + limit + 1]
        log_p = log_softmax(model.logits(window[:-1])[done - start :])
        wanted = window[1 + done - start :]
        costs.append(-log_p[np.arange(len(wanted)), wanted])
        done += len(wanted)
    return np.concatenate(costs)


def ngram_scorer(model: NGram) -> Scorer:
    """-ln p of each id of a document under an n-gram model."""

    def cost(ids: Sequence[int]) -> NDArray[np.float64]:
        return -np.log(model.probabilities(np.array(ids)))

    return cost


def score(
    scorer: Scorer | TinyLM, documents: Iterable[Document], tokenizer: Tokenizer
) -> list[Score]:
    """Cost of every document, its end token included."""
    return list(_scores(scorer, documents, tokenizer))


def _scores(
    scorer: Scorer | TinyLM, documents: Iterable[Document], tokenizer: Tokenizer
) -> Iterator[Score]:
    for document in documents:
        ids = [*tokenizer.encode(document.text), tokenizer.end]
        costs = surprise(scorer, ids) if isinstance(scorer, TinyLM) else scorer(ids)
        size = len(document.text.encode())
        yield Score(document.name, len(ids), size, float(costs.sum()))


def _resampled(values: NDArray[np.float64], sizes: NDArray[np.float64]) -> Interval:
    """Sum of values over sum of sizes, and its spread over drawn documents."""
    random = np.random.default_rng(0)
    drawn = random.integers(len(sizes), size=(RESAMPLES, len(sizes)))
    ratios = values[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(ratios, TAILS)
    return Interval(float(values.sum() / sizes.sum()), float(low), float(high))


def _columns(scores: Sequence[Score]) -> tuple[NDArray[np.float64], ...]:
    if len(scores) < 2:
        raise ValueError(f"{len(scores)} documents: an interval needs at least 2")
    columns = np.array([(s.nats, s.bytes, s.tokens) for s in scores], dtype=float).T
    return tuple(columns)


def bits_per_byte(scores: Sequence[Score]) -> Interval:
    """Bits of surprise a byte of text, over all documents."""
    nats, bytes_, _ = _columns(scores)
    return _resampled(nats / np.log(2), bytes_)


def perplexity(scores: Sequence[Score]) -> Interval:
    """e to the mean surprise of a token."""
    nats, _, tokens = _columns(scores)
    mean = _resampled(nats, tokens)
    value, low, high = (float(np.exp(x)) for x in (mean.value, mean.low, mean.high))
    return Interval(value, low, high)


def difference(first: Sequence[Score], second: Sequence[Score]) -> Interval:
    """Bits a byte of the first less the second's, document by document.

    The same documents are drawn for both, so what makes a document hard for either
    cancels. Below zero with its whole interval, the first predicts better.
    """
    if [s.name for s in first] != [s.name for s in second]:
        raise ValueError("the scores are of different documents")
    one, bytes_, _ = _columns(first)
    two, _, _ = _columns(second)
    return _resampled((one - two) / np.log(2), bytes_)

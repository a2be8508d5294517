"""The book's models as a reader meets them: `load` one, `generate` with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stacklib.models import LanguageModel
from stacklib.quantity.bounds import whole
from stacklib.quantity.names import resolve

from .config import DATA, NAMES, Config, architecture, read_config, shapes
from .forward import KVCache, forward
from .sampling import Sampling, draw, probabilities
from .tokenizer import Tokenizer, load_tokenizer
from .weights import read_weights


@dataclass(frozen=True)
class TinyLM:
    """A trained model: sizes, weights and tokenizer.

    Parameters
    ----------
    name : str
        One of ``NAMES``.
    config : Config
        Sizes.
    weights : mapping of str to float32 array
        By their Hugging Face names. Replace some to try a change:
        ``dataclasses.replace(model, weights={**model.weights, name: other})``.
    tokenizer : Tokenizer
        Shared by all of them.
    """

    name: str
    config: Config
    weights: Mapping[str, NDArray[np.float32]] = field(repr=False)
    tokenizer: Tokenizer = field(repr=False)

    @property
    def parameters(self) -> int:
        """Numbers in the weights; the tied embedding once."""
        return sum(weight.size for weight in self.weights.values())

    @property
    def architecture(self) -> LanguageModel:
        """The same config as every other model of the book is read."""
        return architecture(self.name)

    def logits(
        self, ids: ArrayLike, cache: KVCache | None = None, *, last_only: bool = False
    ) -> NDArray[np.float32]:
        """Logits after each of ``ids``; ``cache`` and ``last_only`` as in `forward`."""
        return forward(self.weights, self.config, ids, cache, last_only=last_only)


def load(name: str = "tiny") -> TinyLM:
    """A model of the book, its weights checked against their hashes.

    Parameters
    ----------
    name : str
        ``tiny``; ``draft``, a tenth its size, distilled from it; ``draft_plain``,
        trained on the text alone.

    Raises
    ------
    UnknownName
        For another name; the message ends in the nearest.
    CorruptWeights
        When a tensor is not what was written.
    """
    return _load(resolve(name, NAMES, "model of the book"))


@cache
def _load(name: str) -> TinyLM:
    config = read_config(DATA / name / "config.json")
    weights = read_weights(DATA / name, shapes(config))
    return TinyLM(name, config, weights, load_tokenizer())


def next_ids(
    model: TinyLM, ids: list[int], how: Sampling, random: np.random.Generator
) -> Iterator[int]:
    """Token after token, without end.

    When the context is full its older half is dropped and the rest is read again:
    positions are counted from its start.
    """
    limit = model.config.max_position_embeddings
    kept = ids[-limit:]
    cache = KVCache(model.config)
    logits = model.logits(kept, cache, last_only=True)
    while True:
        chosen = draw(probabilities(logits[-1], how), random)
        yield chosen
        kept.append(chosen)
        if cache.length == limit:
            kept = kept[-limit // 2 :]
            cache.truncate(0)
            logits = model.logits(kept, cache, last_only=True)
        else:
            logits = model.logits([chosen], cache)


def generate(
    prompt: str = "",
    *,
    model: TinyLM | str = "tiny",
    tokens: int = 200,
    temperature: float = 0.8,
    top_k: int = 0,
    top_p: float = 0.95,
    min_p: float = 0.0,
    seed: int = 0,
) -> Iterator[str]:
    """Text that goes on from a prompt, piece by piece as it is made.

    Stops after ``tokens``, or where the model ends its document. The prompt itself
    does not come back.

    Parameters
    ----------
    prompt : str
        What is read first; empty starts a document. Of one longer than the context,
        the end is read.
    model : TinyLM or str
        A loaded model or the name of one.
    tokens : int
        Most tokens to make.
    temperature, top_k, top_p, min_p : float, int, float, float
        See `Sampling`.
    seed : int
        The same seed gives the same text.

    Raises
    ------
    ValueError
        For tokens below one, or a sampling value out of range.
    """
    whole(tokens=tokens)
    how = Sampling(temperature, top_k, top_p, min_p)
    chosen = load(model) if isinstance(model, str) else model
    end = chosen.tokenizer.end
    ids = [end, *chosen.tokenizer.encode(prompt)]
    random = np.random.default_rng(seed)

    def until_end() -> Iterator[int]:
        for _, each in zip(
            range(tokens), next_ids(chosen, ids, how, random), strict=False
        ):
            if each == end:
                return
            yield each

    return chosen.tokenizer.pieces(until_end())

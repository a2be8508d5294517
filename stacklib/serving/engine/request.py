"""One request of a model: what was asked, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import is_whole, whole
from stacklib.serving.text.stream import TextStream, checked
from stacklib.tinylm.config import Config
from stacklib.tinylm.forward import check
from stacklib.tinylm.sampling import Sampling

from .delay import Ledger
from .place import Place

MOST_TOP = 20  # likely tokens reported beside the one drawn, as servers limit them


class Mask(Protocol):
    """What a grammar says about the next token; states are whole numbers."""

    def start(self) -> int:
        """The state before any token."""

    def allowed(self, state: int, left: int | None = None) -> NDArray[np.bool_]:
        """Which tokens may follow, (vocab,); ``left`` may still be drawn."""

    def advance(self, state: int, token: int) -> int:
        """The state after a token."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of an answer as it is streamed; ``text`` may wait for a later one."""

    text: str
    token: int | None  # none: text let go at the end
    time: float
    logprob: float | None = None  # ln p before any cut
    top: tuple[tuple[int, float], ...] = ()  # the likeliest and their ln p


@dataclass(frozen=True)
class Asked:
    """The request as it was submitted."""

    tokens: Sequence[int]
    sampling: Sampling
    most: int
    stop: Sequence[str] = ()
    mask: Mask | None = None
    seed: int | None = None
    logprobs: int | None = None


def possible(asked: Asked, config: Config) -> Asked:
    """What was submitted, if the model can do it.

    - raises ``ValueError``: no tokens or one the model lacks, ``most`` below one, both
      together longer than the context, a seed or ``logprobs`` out of range.
    """
    tokens, most = asked.tokens, asked.most
    whole(most=most)
    if not all(is_whole(each) for each in tokens):
        raise ValueError(f"tokens = {list(tokens)!r:.80}: whole numbers are needed")
    ids = np.asarray(tokens)
    if len(ids) + most > config.max_position_embeddings:
        raise ValueError(
            f"{len(ids)} + {most} = {len(ids) + most} tokens: a context of "
            f"{config.max_position_embeddings}; shorten the prompt or ask for fewer"
        )
    check(ids, 0, config)
    if not isinstance(asked.sampling, Sampling):
        raise ValueError(f"sampling = {asked.sampling!r}: a tinylm.Sampling is needed")
    if asked.seed is not None:
        whole(0, seed=asked.seed)
    if asked.logprobs is not None:
        whole(0, logprobs=asked.logprobs)
        if asked.logprobs > MOST_TOP:
            raise ValueError(f"logprobs = {asked.logprobs}: 0 to {MOST_TOP}")
    return replace(asked, tokens=tuple(ids.tolist()), stop=checked(asked.stop))


class Request(Place):
    """A request in an engine, alive or ended.

    - ``id``: its number in the engine
    - ``asked``: what was submitted: tokens, sampling, most, stop, mask, seed, logprobs
    - ``ledger``: where its time goes
    - ``spell``: bytes of tokens
    """

    def __init__(
        self,
        id: int,
        asked: Asked,
        ledger: Ledger,
        spell: Callable[[Iterable[int]], bytes],
    ) -> None:
        super().__init__(id, asked.tokens, asked.most, ledger)
        self.asked = asked
        self.arrived = ledger.submitted  # earlier where a step was under way
        self.pieces: list[Piece] = []
        self.stream = TextStream(spell, asked.stop)
        # Nobody else draws from it: the batch's company changes no answer.
        self.random = np.random.default_rng(id if asked.seed is None else asked.seed)
        self.at = asked.mask.start() if asked.mask is not None else 0
        self.failed: Exception | None = None  # of its mask, or of its logits

    def advance(self, token: int) -> None:
        """Its grammar goes on."""
        if self.asked.mask is not None:
            self.at = self.asked.mask.advance(self.at, token)

    @property
    def text(self) -> str:
        """What may be shown so far."""
        return "".join(piece.text for piece in self.pieces)

"""What a draft proposes to each request of an engine, and what of it the model keeps.

A proposal follows from the request alone: its tokens, its generator, its grammar and
what it has left. Neither memory nor company shortens it, and it waits through a
preemption, so that the same seed gives the same answer whoever else is served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stacklib.serving.speculation.drafts import Draft, Proposal, Way
from stacklib.serving.speculation.rule import Row, checked, distribution
from stacklib.tinylm.forward import Floats, log_softmax

from .request import Request


class Drafting:
    """Proposals of a draft; without one there are none.

    - ``vocab``: ids of the model
    - ``end``: the token that ends a document
    """

    def __init__(self, draft: Draft | None, vocab: int, end: int) -> None:
        if draft is not None and not isinstance(draft, Draft):
            raise ValueError(
                f"draft = {draft!r:.40}: a Draft of serving.speculation.drafts is "
                "needed, such as ModelDraft(tinylm.load('draft'))"
            )
        if draft is not None and draft.ids() != vocab:
            raise ValueError(f"a draft of {draft.ids()} ids for a model of {vocab}")
        self._draft, self._end = draft, end
        self._open: dict[int, Proposal] = {}

    @property
    def length(self) -> int:
        """Tokens of a proposal, at most."""
        return 0 if self._draft is None else self._draft.length

    def proposal(self, request: Request) -> Proposal:
        """What is proposed after its last token; nothing before its first answer."""
        if self._draft is None or not request.output or request.failed is not None:
            return Proposal()
        if request.id not in self._open:
            most = request.left - 1  # the pass gives one token more than it keeps
            way = Way(
                request.asked.sampling,
                request.random,
                lambda drafted: allowed(request, drafted, self._end),
            )
            name, found = self._name(request), Proposal()
            try:
                found = self._draft.propose(name, request.known, most, way)
            except Exception as why:  # of its grammar: the others go on
                if request.asked.mask is None:
                    raise
                request.failed = why
            self._open[request.id] = found
        return self._open[request.id]

    def checked(self, request: Request) -> None:
        """Its proposal was used."""
        self._open.pop(request.id, None)

    def ended(self, request: Request) -> None:
        """Forget all about it."""
        self.checked(request)
        if self._draft is not None:
            self._draft.forget(self._name(request))

    def _name(self, request: Request) -> tuple[int, int]:
        return id(self), request.id  # two engines may have one draft


def allowed(
    request: Request, drafted: Sequence[int], end: int
) -> NDArray[np.bool_] | None:
    """What its grammar lets follow its tokens and some drafted ones; None: anything.

    Nothing follows the end of a document.
    """
    mask, state = request.asked.mask, request.at
    if mask is None:
        return None
    for token in drafted:
        if token == end:
            return np.zeros_like(mask.allowed(state, 1))
        state = mask.advance(state, token)
    return mask.allowed(state, request.left - len(drafted))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A token, and what the model thought of it before any cut."""

    token: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


def choose(
    request: Request, rows: Floats, proposal: Proposal, end: int
) -> list[Chosen]:
    """The next tokens of a request; none where its grammar allows nothing.

    - ``rows``: (1 + drafted, vocab), logits after its last token and after each draft.
    - ``proposal``: tokens that a draft proposed; none of them is kept yet.
    - ``end``: the token that ends a document
    """
    count, how = request.asked.logprobs, request.asked.sampling
    if how.temperature == 0 and len(rows) == 1 and request.asked.mask is None:
        token = int(rows[0].argmax())
        if rows[0, token] == rows[0, token]:  # NaN is left to `distribution`
            return [reported(token, rows[0], count)]
    target: list[Row] = []
    for place, row in enumerate(rows):
        may = allowed(request, proposal.tokens[:place], end)
        if may is not None and not may.any():
            break
        target.append(distribution(row, how, may))
    if not target:
        return []
    tokens = checked(target, proposal.rows, proposal.tokens, request.random)
    return [reported(*each, count) for each in zip(tokens, rows, strict=False)]


def reported(token: int, row: Floats, count: int | None) -> Chosen:
    """A token with its ln p and those of the ``count`` likeliest."""
    if count is None:
        return Chosen(token)
    log_p = log_softmax(row[None])[0]
    first = np.argsort(-log_p, kind="stable")[:count]
    top = tuple((int(each), float(log_p[each])) for each in first)
    return Chosen(token, float(log_p[token]), top)

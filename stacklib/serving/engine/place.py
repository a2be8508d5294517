"""What a scheduler knows of a request: counts, blocks, and where its time went."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib import paged_kv

from .delay import Ledger


class Place:
    """A request's place in the line and the batch, with or without a model behind it.

    - ``tokens``: the prompt; ``most``: tokens it may be given.
    - ``ledger``: where its time goes.
    """

    def __init__(
        self, id: int, tokens: Sequence[int], most: int, ledger: Ledger
    ) -> None:
        self.id = id
        self.tokens = tuple(tokens)
        self.most = most
        self.state = "waiting"  # running, preempted, finished
        self.reason: str | None = None  # length, stop, mask, cancelled, failed
        self.output: list[int] = []
        self.submitted = ledger.submitted
        self.times: list[float] = []  # of its tokens
        self.finished: float | None = None
        self.cached = 0  # tokens found computed when it was first let in
        self.why = ""  # no more were found
        self.rank: tuple[float, int] = (0.0, id)
        # Tokens in order, how many of them are computed now and were at any time.
        self.known = list(tokens)
        self.computed = 0
        self.highest = 0
        self.admitted = False  # at any time
        self.sequence: paged_kv.Sequence | None = None
        self.ledger = ledger

    @property
    def held(self) -> paged_kv.Sequence:
        """Its blocks, while it is in the batch."""
        assert self.sequence is not None, self
        return self.sequence

    @property
    def unread(self) -> int:
        """Tokens that have a place in its blocks and were not read there yet."""
        return len(self.held) - self.computed

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self.finished is not None

    @property
    def left(self) -> int:
        """Tokens it may still be given."""
        return self.most - len(self.output)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(id={self.id}, state={self.state!r}, "
            f"tokens={len(self.tokens)}, output={len(self.output)} of {self.most}, "
            f"reason={self.reason!r})"
        )

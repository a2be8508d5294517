"""One request on its way through the machines."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

from .pool import Held
from .traffic import Row


class Done(NamedTuple):
    """What became of one request; times in whole nanoseconds.

    - ``admitted``: first let into a batch; ``first``: its first token; ``finished``
    - ``found``: tokens of its prompt that were there already
    - ``preempted``: how often it lost its place; ``again``: tokens read again for that
    - ``machine``: where it ended
    """

    id: Any
    arrival: int
    prompt: int
    new: int
    admitted: int
    first: int
    finished: int
    found: int
    preempted: int
    again: int
    machine: int

    @property
    def ttft(self) -> int:
        """From the request to its first token."""
        return self.first - self.arrival

    @property
    def e2e(self) -> int:
        """From the request to its last token."""
        return self.finished - self.arrival

    @property
    def tpot(self) -> float:
        """From the first token to the last, over the tokens after the first."""
        return (self.finished - self.first) / max(1, self.new - 1)


_FACTS = attrgetter(*Done._fields)


class Request:
    """A row of traffic, and where it stands.

    ``rest`` plus the machine's count of steps is the tokens that it has a place for
    while it decodes; ``ends`` is the count at which it is done. With a draft ``rest``
    is the count at which it began, and ``kept`` its tokens before each pass.
    """

    __slots__ = tuple(
        """admitted again arrival ends finished first found held id kept last machine
        made new place preempted prompt rank read ready rest shared text
        unread""".split()
    )

    def __init__(self, place: int, arrival: int, row: Row) -> None:
        self.place, self.arrival = place, arrival
        self.id, self.prompt, self.new = row.id, row.prompt, row.new
        self.text, self.shared = row.text, row.shared
        self.made = 0  # tokens of its answer, without those of the batch it is in
        self.unread = 0  # tokens that it has a place for and are not read
        self.read = 0  # tokens read once and lost
        self.ready = False  # its cache came from another machine
        self.rank = self.rest = self.ends = 0
        self.admitted = self.first = self.finished = self.last = -1
        self.found = self.preempted = self.again = 0
        self.machine = -1
        self.kept: list[int] = []
        self.held = Held()

    @property
    def tokens(self) -> int:
        """Prompt and answer so far."""
        return self.prompt + self.made

    def done(self) -> Done:
        """Its row of the result."""
        return Done(*_FACTS(self))

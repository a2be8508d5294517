"""The text of one answer while its tokens arrive.

A token is a few bytes, and neither a character nor a stop string ends where one does.
So bytes wait until their character is whole, and characters wait for as long as they
may still turn out to be the beginning of a stop string: what was sent cannot be taken
back. What comes out does not depend on how the text was cut into tokens.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Sequence


class TextStream:
    """Text of tokens as they come; it ends before the first stop string.

    - ``spell``: the bytes of some tokens, such as ``tokenizer.decode``.
    - ``stop``: strings that end the answer and do not belong to it; of several, the one
      that is complete first, and of two complete at once the longer. ValueError for one
      that is empty or no text.
    """

    def __init__(
        self, spell: Callable[[Iterable[int]], bytes], stop: Sequence[str] = ()
    ) -> None:
        self._stop = checked(stop)
        self._spell = spell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""  # may still become a stop string
        self.stopped: str | None = None

    def feed(self, token: int) -> str:
        """The text that is certain after one more token; often empty.

        Once ``stopped`` names a stop string, nothing comes any more.
        """
        return self._push(self._decoder.decode(self._spell([token])), last=False)

    def close(self) -> str:
        """What was held back, when no token follows."""
        return self._push(self._decoder.decode(b"", final=True), last=True)

    def _push(self, piece: str, last: bool) -> str:
        if self.stopped is not None:
            return ""
        text = self._held + piece
        found = first_stop(text, self._stop)
        if found is not None:
            start, self.stopped = found
            self._held = ""
            return text[:start]
        keep = 0 if last else beginning(text, self._stop)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def checked(stop: Sequence[str]) -> tuple[str, ...]:
    """The stop strings; ValueError for one that is empty or no text."""
    if isinstance(stop, str):
        raise ValueError(f"stop = {stop!r}: a sequence of strings is needed")
    for each in stop:
        if not isinstance(each, str) or not each:
            raise ValueError(f"stop = {each!r}: text of at least one character")
    return tuple(stop)


def first_stop(text: str, stop: Sequence[str]) -> tuple[int, str] | None:
    """Where the stop string that is complete first begins, and which it is."""
    found = [(text.find(each), each) for each in stop]
    ends = [(at + len(each), at, each) for at, each in found if at >= 0]
    return min(ends)[1:] if ends else None


def beginning(text: str, stop: Sequence[str]) -> int:
    """Characters at the end of a text that are the beginning of a stop string."""
    most = max((len(each) - 1 for each in stop), default=0)
    for size in range(min(most, len(text)), 0, -1):
        if any(each.startswith(text[len(text) - size :]) for each in stop):
            return size
    return 0

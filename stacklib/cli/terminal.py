"""What a terminal cannot take: letters it has not, a full disk, a closed pipe."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

# What we print beyond ASCII, as a terminal without it shows it.
PLAIN = {
    "µ": "u", "×": "x", "·": "*", "−": "-", "–": "-", "—": "-", "…": "...", "²": "2",
    "├": "|", "└": "`", "─": "-", "│": "|", "█": "#", "≤": "<=", "≥": ">=", "≈": "~",
    "→": "->", "’": "'", "‘": "'", "“": '"', "”": '"', "°": "", "✓": "ok", "✗": "x",
}  # fmt: skip


def plain(error: UnicodeError) -> tuple[str, int]:
    """The nearest ASCII of what an encoding lacks; ``?`` where there is none."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(PLAIN.get(letter, "?") for letter in lost), error.end


codecs.register_error("stacklib-plain", plain)


def printable() -> None:
    """Let standard output and errors take any text, whatever their encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="stacklib-plain")


def holds_all(stream: TextIO) -> bool:
    """Whether a stream can print every letter, as UTF-8 can."""
    name = getattr(stream, "encoding", None) or "utf-8"
    return codecs.lookup(name).name.startswith("utf")


def drop_output() -> None:
    """What is still to be written goes nowhere: the exit must not fail again."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # a stream without a file
        pass

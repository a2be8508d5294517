"""Schedules as text that a person writes: a line a step.

::

    # the sum of two chips, each sends its half
    ranks=2 chunks=2        a first line may name what the sends leave open
    0>1 c1 +, 1>0 c0 +      what comes is added to what is there
    0>1 c0 =, 1>0 c1 =      or copied over it
    -                       a step in which nothing is sent

Else it is an all-reduce of as many ranks and chunks as the sends name. A line that
cannot be read is refused with its number and what is wrong with it; whether the
schedule is right is for ``verify`` to say.
"""

from __future__ import annotations

import re

from stacklib.interconnect.schedules.schedule import COLLECTIVES, Schedule, Send

SEND = re.compile(r"(\d{1,3}) ?> ?(\d{1,3}) c ?(\d{1,3}) ?([+=])")
ENDS = {"+": True, "=": False}
HEAD = ("collective", "ranks", "chunks", "switches", "root")
DEFAULTS = {"collective": "all_reduce", "switches": 0, "root": 0}
RANKS, SENDS = 64, 4000  # at most: a text for people


class TextFault(ValueError):
    """A text that is no schedule: the line, and why."""


def from_text(text: str, collective: str = "all_reduce") -> Schedule:
    """The schedule that a text writes down.

    - ``text``: a line a step; empty ones and what follows ``#`` are left out.
    - ``collective``: unless the text's first line names it.
    - raises ``TextFault`` with the line for what cannot be read.

    >>> made = from_text("0>1 c0 +, 1>0 c1 +\\n0>1 c1 =, 1>0 c0 =")
    >>> made.ranks, made.steps, made.sends[0].reduce
    (2, 2, True)
    """
    sends: list[Send] = []
    told: dict[str, str] = {}
    step = -1
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        if step < 0 and not told and "=" in words and ">" not in words:
            told = _head(number, words)
            continue
        step += 1
        for part in words.strip(",").split(",") if words != "-" else ():
            sends.append(_send(step, number, " ".join(part.split())))
    if not sends and "ranks" not in told:
        raise TextFault("no line with a send: write `0>1 c0 +`")
    collective = told.pop("collective", collective)
    given = {name: int(value) for name, value in told.items()}
    nodes = 1 + max((max(send[1:3]) for send in sends), default=0)
    ranks = given.pop("ranks", nodes - given.get("switches", 0))
    if nodes > RANKS or ranks > RANKS or len(sends) > SENDS:
        raise TextFault(
            f"{max(nodes, ranks)} ranks and {len(sends)} sends: at most {RANKS} and"
            f" {SENDS}"
        )
    chunks = 1 + max((send.chunk for send in sends), default=0)
    if collective == "all_to_all":
        chunks = ranks * ranks
    chunks = given.pop("chunks", chunks)
    return Schedule(collective, "written", ranks, chunks, tuple(sends), **given)


def _head(number: int, words: str) -> dict[str, str]:
    """What a first line names."""
    found: dict[str, str] = {}
    for word in words.replace(",", " ").split():
        name, _, value = word.partition("=")
        fine = value in COLLECTIVES if name == "collective" else value.isdecimal()
        if name not in HEAD or name in found or not fine:
            raise TextFault(
                f"line {number}: `{word}` is none of {', '.join(HEAD)} once, as"
                " `ranks=4`"
            )
        found[name] = value
    return found


def _send(step: int, number: int, part: str) -> Send:
    found = SEND.fullmatch(part)
    if found is None:
        raise TextFault(
            f"line {number}: `{part}` is no send; write `0>1 c2 +` to add chunk 2 of"
            " rank 0 to rank 1's, `=` to copy it"
        )
    source, destination, chunk, sign = found.groups()
    return Send(step, int(source), int(destination), int(chunk), ENDS[sign])


def to_text(schedule: Schedule) -> str:
    """A schedule as text, which ``from_text`` reads back, but for its algorithm."""
    lines = []
    for sends in schedule.by_step():
        told = [
            f"{one.source}>{one.destination} c{one.chunk} {'=+'[one.reduce]}"
            for one in sends
        ]
        lines.append(", ".join(told) or "-")
    plain = "\n".join(lines) + "\n"
    named = [name for name in HEAD if getattr(schedule, name) != DEFAULTS.get(name)]
    if "collective" not in named and "switches" not in named and schedule.sends:
        read = from_text(plain)
        if (read.ranks, read.chunks) == (schedule.ranks, schedule.chunks):
            return plain
    return (
        " ".join(f"{name}={getattr(schedule, name)}" for name in named) + "\n" + plain
    )

"""Schedules as text that a person writes: a line a step.

::

    # the sum of two chips, each sends its half
    0>1 c1 +, 1>0 c0 +      what comes is added to what is there
    0>1 c0 =, 1>0 c1 =      or copied over it

Ranks and chunks are as many as the text names. A line that cannot be read is refused
with its number and what is wrong with it; whether the schedule is right is for
``verify`` to say.
"""

from __future__ import annotations

import re

from stacklib.interconnect.schedules.schedule import Schedule, Send

SEND = re.compile(r"(\d{1,3}) ?> ?(\d{1,3}) c ?(\d{1,3}) ?([+=])")
ENDS = {"+": True, "=": False}
RANKS, SENDS = 64, 4000  # at most: a text for people


class TextFault(ValueError):
    """A text that is no schedule: the line, and why."""


def from_text(text: str, collective: str = "all_reduce") -> Schedule:
    """The schedule that a text writes down.

    - ``text``: a line a step; empty ones and what follows ``#`` are left out.
    - raises ``TextFault`` with the line for what cannot be read.

    >>> made = from_text("0>1 c0 +, 1>0 c1 +\\n0>1 c1 =, 1>0 c0 =")
    >>> made.ranks, made.steps, made.sends[0].reduce
    (2, 2, True)
    """
    sends: list[Send] = []
    step = 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        for part in words.strip(",").split(","):
            sends.append(_send(step, number, " ".join(part.split())))
        step += 1
    if not sends:
        raise TextFault("no line with a send: write `0>1 c0 +`")
    ranks = 1 + max(max(send.source, send.destination) for send in sends)
    if ranks > RANKS or len(sends) > SENDS:
        raise TextFault(
            f"{ranks} ranks and {len(sends)} sends: at most {RANKS} and {SENDS}"
        )
    chunks = 1 + max(send.chunk for send in sends)
    return Schedule(collective, "written", ranks, chunks, tuple(sends))


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
    """A schedule as text, which ``from_text`` reads back.

    - raises ``ValueError`` for one with a step in which nothing is sent.
    """
    lines = []
    for step, sends in enumerate(schedule.by_step()):
        if not sends:
            raise ValueError(f"step {step} sends nothing: a text has no line for it")
        told = [
            f"{one.source}>{one.destination} c{one.chunk} {'=+'[one.reduce]}"
            for one in sends
        ]
        lines.append(", ".join(told))
    return "\n".join(lines) + "\n"

"""Streams of one multiprocessor: what the warps of its programs issued.

Programs are dealt to the units in turn; those of the unit with most to do are written
down, as many waves of them as are replayed (``issue.waves``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.hardware import Accelerator

from ...issue.streams import NONE, Streams, checked
from ..machine import Batch
from .estimate import Build
from .tape import Tape
from .warps import tape_of


def answers(batches: Sequence[Batch], answered: Any) -> None:
    """Give every memory operation the levels that answered it.

    ``answered``: (requests, 3) sectors of each request of the launch by level.
    """
    start = 0
    for now in batches:
        for made in now.requests:
            shape = (made.again, len(now), made.counts.shape[1], 3)
            stop = start + shape[0] * shape[1] * shape[2]
            made.levels = answered[start:stop].reshape(shape)
            start = stop


def record(
    batches: Sequence[Batch],
    build: Build,
    device: Accelerator,
    units: int,
    most: int,
) -> Streams:
    """The streams of the first programs, ``most`` at most, of the busiest unit."""
    unit = _busiest(batches, units)
    mine = [
        (row, now)
        for now in batches
        for row in np.flatnonzero(now.programs % units == unit).tolist()
    ]
    mine.sort(key=lambda pair: int(pair[1].programs[pair[0]]))
    tapes: dict[int, tuple[Tape, dict[str, Any]]] = {}
    pieces = []
    for row, now in mine[:most]:
        if id(now) not in tapes:
            tape = tape_of(now.ops, now.requests, build, device)
            tapes[id(now)] = tape, tape.columns()
        pieces.append(_program(row, now, *tapes[id(now)], build, units))
    return _streams(pieces, build.threads // 32)


def _busiest(batches: Sequence[Batch], units: int) -> int:
    """The unit whose programs have most operations."""
    load: Any = np.zeros(units, np.int64)
    for now in batches:
        np.add.at(load, now.programs % units, len(now.ops))
    return int(load.argmax())


@dataclass(frozen=True, slots=True)
class _Piece:
    """One program's instructions: columns of a warp, requests by warp."""

    columns: dict[str, Any]
    requests: Any  # (warps, n, 5), what each asks for; -1 for nothing
    events: list[int]


def _program(
    row: int,
    now: Batch,
    tape: Tape,
    columns: dict[str, Any],
    build: Build,
    units: int,
) -> _Piece:
    warps = build.threads // 32
    asked: Any = np.full((warps, tape.place, 5), NONE)
    fixed = columns["fixed"]
    if tape.rows:
        asked[:, fixed >= 0] = np.array(tape.rows)[fixed[fixed >= 0]]
    memory, turn = columns["memory"], columns["turn"]
    for number in np.unique(memory[memory >= 0]).tolist():
        here = np.flatnonzero(memory == number)
        for warp in range(warps):
            made = now.requests[number]
            asked[warp, here] = _asked(made, row, warp, warps, turn[here])
            # One unit is replayed; programs of the others take their turns as well.
            if made.everywhere:
                asked[warp, here, 4] *= min(units, len(now))
    return _Piece(columns, asked, tape.events)


def _asked(made: Any, row: int, warp: int, warps: int, turn: Any) -> Any:
    """Rows of requests of a memory operation's instructions, (n, 5)."""
    each = made.counts.shape[1]
    chunk, copy = turn * warps + warp, 0
    if each < warps:
        chunk, copy = np.full(len(turn), warp % each), warp // each
    rows: Any = np.zeros((len(turn), 5), np.int64)
    if copy >= made.again:
        return rows  # the warp has nothing to store
    real = chunk < each
    at, one = chunk[real], min(row, len(made.counts) - 1)
    rows[real, 0] = made.lines[one, at]
    rows[real, 1:4] = made.levels[copy, row][at]
    rows[real, 4] = made.turns[one, at]
    return rows


def _streams(pieces: Sequence[_Piece], warps: int) -> Streams:
    """All programs' warps, one after the other."""
    lengths = [p.requests.shape[1] for p in pieces]
    events = np.cumsum([0, *(len(p.events) for p in pieces)])
    rows = np.concatenate([p.requests.reshape(-1, 5) for p in pieces])
    asks = rows[:, 0] != NONE
    different, place = np.unique(rows[asks], axis=0, return_inverse=True)
    request: Any = np.full(len(rows), NONE)
    request[asks] = place.reshape(-1)
    columns = {
        name: np.concatenate(
            [
                np.tile(_shifted(p, name, int(start)), (warps, 1))
                if name == "needs"
                else np.tile(_shifted(p, name, int(start)), warps)
                for p, start in zip(pieces, events[:-1], strict=True)
            ]
        )
        for name in ("kind", "needs", "line", "arrive", "wait")
    }
    first: Any = np.cumsum([0, *np.repeat(lengths, warps)])
    block: Any = np.repeat(np.arange(len(pieces)), warps)
    lanes: Any = np.full(len(rows), 32)
    return checked(
        Streams(
            first=first,
            block=block,
            lanes=lanes,
            request=request,
            requests=different,
            events=np.array([n for p in pieces for n in p.events], np.int64),
            **columns,
        )
    )


def _shifted(piece: _Piece, name: str, start: int) -> Any:
    """A column; its events numbered from where the program's begin."""
    column = piece.columns[name]
    if name not in ("arrive", "wait"):
        return column
    return np.where(column >= 0, column + start, NONE)

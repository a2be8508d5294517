"""Processes that belong together: started, watched, and none of them left behind.

A rank is a program of its own that prints one line of JSON when it is done. Where one
of them ends badly, the others would wait for it until their own limits; here the first
bad end is named, and all are stopped.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from stacklib.quantity.bounds import above_zero, whole

POLL = 0.02  # seconds between looks


def run_ranks(
    program: Sequence[str],
    world: int,
    *,
    limit_s: float,
    before: Sequence[Sequence[str]] = (),
    environment: dict[str, str] | None = None,
) -> list[Any]:
    """What each rank prints last, read as JSON.

    - ``program``: its command; rank, world and the path of a file that all share for
      their meeting are appended.
    - ``before``: words before a rank's command, as ``ip netns exec NAME``.
    - raises ``RuntimeError`` naming the rank that ended badly, ``TimeoutError`` naming
      those that had not ended; either way no process is left.
    """
    whole(world=world)
    above_zero(limit_s=limit_s)
    with TemporaryDirectory() as folder:
        meeting = str(Path(folder) / "meeting")
        outs = [(TemporaryFile("w+"), TemporaryFile("w+")) for _ in range(world)]
        people: list[subprocess.Popen[str]] = []
        try:
            for rank, (out, wrong) in enumerate(outs):
                words = [*(before[rank] if before else ()), *program]
                command = [*words, str(rank), str(world), meeting]
                people.append(
                    subprocess.Popen(
                        command, stdout=out, stderr=wrong, env=environment, text=True
                    )
                )
            _wait(people, outs, time.monotonic() + limit_s)
            return [json.loads(_text(out).splitlines()[-1]) for out, _ in outs]
        finally:
            for person in people:
                person.kill()
                person.wait()
            for out, wrong in outs:
                out.close()
                wrong.close()


def at_once() -> bool:
    """Ask to run as soon as there is something to do, before all other work.

    A process that waits for a message gives up its core, and where others compute it
    gets one back only when a slice of theirs is over: milliseconds, which would be the
    scheduler's and not the socket's. Threads that start later inherit it. Those of this
    rank take turns: first in, first out, four ranks on two cores once waited for good.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except (AttributeError, OSError):
        return False
    return True


def carried() -> int:
    """Bytes that the interfaces of this namespace have sent; 0 where none says."""
    table = Path("/proc/net/dev")
    if not table.exists():
        return 0
    rows = [row.split(":")[1].split() for row in table.read_text().splitlines()[2:]]
    return sum(int(row[8]) for row in rows)


def _wait(people: list[Any], outs: list[Any], end: float) -> None:
    """Until all have ended well."""
    while True:
        codes = [person.poll() for person in people]
        for rank, code in enumerate(codes):
            if code:
                told = _text(outs[rank][1]).strip().splitlines()
                why = f": {told[-1]}" if told else ""
                raise RuntimeError(f"rank {rank} ended with {code}{why}")
        if all(code == 0 for code in codes):
            return
        if time.monotonic() > end:
            late = [rank for rank, code in enumerate(codes) if code is None]
            raise TimeoutError(f"time was up; ranks {late} had not ended")
        time.sleep(POLL)


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read())

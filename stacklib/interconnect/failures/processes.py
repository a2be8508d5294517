"""The same run by real processes that are killed without a warning.

The caller tells a worker each step to take and kills it (SIGKILL: no handler, nothing
flushed) where the kills of ``replay`` say. A new process goes on from the checkpoint
on disk. What it executed, repeated and ended with is then held against ``replay`` and
against the run that nobody killed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stacklib.quantity.bounds import above_zero, whole

from . import worker
from .goodput import Replay


@dataclass(frozen=True, slots=True)
class Killed:
    """A run by processes: its count of steps, and the weights it ended with."""

    counts: Replay
    state: tuple[int, ...]


def undisturbed(steps: int) -> tuple[int, ...]:
    """Weights after so many steps in one go, in this process."""
    whole(steps=steps)
    state = worker.first()
    for step in range(1, steps + 1):
        state = worker.step_of(state, step)
    return tuple(state)


def run_killed(
    steps: int,
    every: int,
    kills: Iterator[bool] | Sequence[bool],
    *,
    kill_saving: int | None = None,
    torn: bool = False,
    limit_s: float = 30.0,
) -> Killed:
    """Run a worker to its last step, killing it where told, and start it again.

    - ``kills``: as of ``replay``; ``kill_saving``: kill once in the middle of writing
      the checkpoint of this step, besides; ``torn``: the planted fault, checkpoints
      written over the old ones.
    - raises ``RuntimeError`` with the worker's last words, ``TimeoutError`` after
      ``limit_s``; either way no process is left.
    """
    whole(steps=steps, every=every)
    above_zero(limit_s=limit_s)
    answers = iter(kills)
    executed = 0
    resumed: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "checkpoint.json")
        what = [path, str(steps), str(every), "torn" if torn else "whole"]
        while True:
            life = _live(what, answers, steps, kill_saving, limit_s)
            executed += life.executed
            if resumed and resumed[-1] < 0:
                resumed[-1] = life.began
            if life.state is not None:
                counts = Replay(executed, executed - steps, len(resumed), (*resumed,))
                return Killed(counts, life.state)
            if life.saving:
                kill_saving = None
            resumed.append(-1)  # until the next life says where it begins


@dataclass(frozen=True, slots=True)
class _Life:
    """From a process's start to its end: where it began, what it did."""

    began: int
    executed: int
    state: tuple[int, ...] | None  # of the last step, if it lived to it
    saving: bool  # killed while it wrote


def _live(
    what: list[str],
    answers: Iterator[bool],
    steps: int,
    kill_saving: int | None,
    limit_s: float,
) -> _Life:
    """Start a worker and lead it, line by line, until it ends or is killed."""
    command = [sys.executable, "-I", "-S", worker.__file__, *what]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        late = threading.Event()

        def too_late() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(limit_s, too_late)
        alarm.start()
        began, executed = 0, 0
        try:
            for line in process.stdout:
                word, *rest = line.split()
                if word == "state":
                    return _Life(began, executed, tuple(map(int, rest)), False)
                step = int(rest[0])
                if word == "begins":
                    began = step
                elif word == "saving" and step == kill_saving:
                    executed += 1  # the step was computed; it is its save that is lost
                    return _Life(began, executed, None, True)
                elif word == "done":
                    executed += 1
                    if next(answers, False) and step < steps:
                        return _Life(began, executed, None, False)
                if word != "done" or step < steps:
                    process.stdin.write("\n")
                    process.stdin.flush()
            if late.is_set():
                raise TimeoutError(f"the worker took longer than {limit_s:g} s")
            words = process.stderr.read().strip() or "no word"
            raise RuntimeError(f"the worker ended on its own: {words}")
        finally:
            alarm.cancel()
            process.kill()

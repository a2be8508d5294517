"""A training loop in a process of its own, which is killed and goes on.

Run as a file, by a bare interpreter: it needs the standard library only. On each line
of its input it computes one step and says so; the state after a step follows from the
state before it and from the step's number, as weights do from a batch. Checkpoints are
written whole beside the old one and moved over it; ``torn`` writes over the old one.
"""

from __future__ import annotations

import json
import os
import sys

PRIME = 2**61 - 1
WEIGHTS = 8


def step_of(state: list[int], step: int) -> list[int]:
    """The weights after a step: each moves by what the sum of all says."""
    pull = sum(state) + step
    return [(w * 48271 + pull * (i + 1)) % PRIME for i, w in enumerate(state)]


def first() -> list[int]:
    """The weights before the first step."""
    return list(range(1, WEIGHTS + 1))


def save(path: str, state: list[int], step: int, torn: bool) -> None:
    """Write a checkpoint; the word in its middle is where a test may kill."""
    text = json.dumps({"step": step, "state": state})
    target = path if torn else path + ".part"
    with open(target, "w", encoding="ascii") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        print("saving", step, flush=True)
        sys.stdin.readline()
        file.write(text[len(text) // 2 :])
        file.flush()
        os.fsync(file.fileno())
    if not torn:
        os.replace(target, path)


def load(path: str) -> tuple[list[int], int]:
    """State and step of the last checkpoint, or of the beginning."""
    if not os.path.exists(path):
        return first(), 0
    with open(path, encoding="ascii") as file:
        text = file.read()
    try:
        kept = json.loads(text)
    except ValueError as error:
        raise SystemExit(f"checkpoint is cut off after {len(text)} bytes") from error
    return kept["state"], kept["step"]


def main(path: str, steps: int, every: int, torn: bool) -> None:
    """Go on from the checkpoint to the last step, a line of input for each."""
    state, done = load(path)
    print("begins", done, flush=True)
    while done < steps:
        sys.stdin.readline()
        done += 1
        state = step_of(state, done)
        if done % every == 0:
            save(path, state, done, torn)
        print("done", done, flush=True)
    print("state", *state, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "torn")

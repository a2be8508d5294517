"""Two processes with an engine each: one reads prompts, one writes answers.

What the first has computed crosses a socket, block by block, with the key that says
what is in it. The second keeps it below its pool, and its engine finds it there as it
finds what it has computed itself. A prompt's last tokens, less than a block, are read
again.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from stacklib import tinylm
from stacklib.interconnect.sharding.processes import run_ranks

from ..engine.engine import Engine
from ..tiers.held import Entry
from ..tiers.host import HostTier

SIZES: dict[str, Any] = {"blocks": 64, "block_size": 16, "max_batch": 4, "chunk": 64}
HELD = 64  # blocks that wait below the pool of the side that writes
LIMIT = 60.0  # s, for both processes


def joined(rank: int, meeting: str) -> Connection:
    """One end of a socket between two ranks; rank 0 listens."""
    if rank == 0:
        with Listener(meeting, family="AF_UNIX") as listener:
            return listener.accept()
    end = time.monotonic() + LIMIT
    while True:
        try:
            return Client(meeting, family="AF_UNIX")
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def answered(engine: Engine, prompt: Sequence[int], new: int) -> list[int]:
    """The likeliest tokens after a prompt."""
    request = engine.submit(prompt, tinylm.Sampling(0), most=new)
    while engine.busy:
        engine.step()
    return list(request.output)


class Reader(Engine):
    """An engine whose blocks can be had."""

    def computed(self, prompt: Sequence[int]) -> list[Entry]:
        """Key, keys and values of each full block of a prompt that it has read."""
        allocator = self._memory.allocator
        found = allocator.match(prompt).blocks
        keys = allocator.keys(prompt)[: len(found)]
        return [
            (key, *self._pool.read(block))
            for key, block in zip(keys, found, strict=True)
        ]


class Writer(Engine):
    """An engine that takes blocks which others computed."""

    def __init__(self, model: tinylm.TinyLM, **sizes: Any) -> None:
        self.below = HostTier(HELD)
        super().__init__(model, tiers=(self.below,), **sizes)

    def take(self, entries: Sequence[Entry]) -> int:
        """Keep what has come; how many bytes it is."""
        for key, k, v in entries:
            assert isinstance(key, bytes)
            self.below.put(self._memory.named(key), k, v)
        return sum(k.nbytes + v.nbytes for _, k, v in entries)


def reading(other: Connection, prompts: Sequence[Sequence[int]]) -> list[int]:
    """Read each prompt and send its blocks; the first token of each answer."""
    engine, first = Reader(tinylm.load(), **SIZES), []
    for prompt in prompts:
        first += answered(engine, prompt, 1)
        other.send(engine.computed(prompt))
    return first


def writing(
    other: Connection, prompts: Sequence[Sequence[int]], new: int
) -> dict[str, Any]:
    """Answers from blocks that came: tokens, blocks found, bytes that crossed."""
    engine = Writer(tinylm.load(), **SIZES)
    size, outputs = 0, []
    for prompt in prompts:
        size += engine.take(other.recv())
        outputs.append(answered(engine, prompt, new))
    return {"outputs": outputs, "found": engine.below.moved.gets, "bytes": size}


def run_two_pools(prompts: Sequence[Sequence[int]], new: int) -> dict[str, Any]:
    """Answers of two processes that share each request, and what crossed."""
    program = [sys.executable, "-m", __name__, json.dumps([prompts, new])]
    first, found = run_ranks(program, 2, limit_s=LIMIT)
    return {"first": first, **found}


def main(words: Sequence[str]) -> None:
    """One rank: what is asked, rank, world, and where to meet."""
    (prompts, new), rank = json.loads(words[0]), int(words[1])
    with joined(rank, words[3]) as other:
        sides = (lambda: reading(other, prompts), lambda: writing(other, prompts, new))
        print(json.dumps(sides[rank]()))


if __name__ == "__main__":
    main(sys.argv[1:])

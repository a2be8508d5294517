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
from collections.abc import Callable, Sequence
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import numpy as np

from stacklib import tinylm
from stacklib.interconnect.sharding.processes import run_ranks

from ..engine.engine import Engine, fingerprint
from ..tiers.held import Entry
from ..tiers.host import HostTier

FORMAT = "<f4"


def head(model: bytes, shape: Sequence[int]) -> dict[str, Any]:
    """What both sides must have in common.

    - ``model``: its fingerprint; ``shape``: of a block's keys: layers, heads, tokens
      and numbers of a head
    """
    return {"model": model.hex(), "block_size": shape[2], "shape": list(shape)}


def packed(head: dict[str, Any], entries: Sequence[Entry]) -> bytes:
    """Blocks by key, keys and values, as bytes."""
    keys = [bytes(key).hex() for key, _, _ in entries]  # type: ignore[call-overload]
    line = json.dumps({**head, "keys": keys}).encode()
    numbers = (x.astype(FORMAT).tobytes() for _, *both in entries for x in both)
    return b"".join([line, b"\n", *numbers])


def unpacked(data: bytes, own: dict[str, Any]) -> list[Entry]:
    """The blocks that `packed` wrote; nothing of it is run when it is read.

    - ``own``: `head` of this side
    - raises ``ValueError`` naming what is another here, or how much is missing
    """
    line, _, numbers = data.partition(b"\n")
    try:
        said = json.loads(line)
        keys = [bytes.fromhex(key) for key in said["keys"]]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"blocks begin with {line!r:.60}, which is no head") from None
    same(said, own)
    shape = tuple(own["shape"])
    each = int(np.prod(shape))
    need = 2 * len(keys) * each * 4
    if len(numbers) != need:
        raise ValueError(
            f"{len(keys)} blocks are {need:,} bytes; {len(numbers):,} came"
        )
    held = np.frombuffer(numbers, FORMAT).reshape(len(keys), 2, *shape)
    return [(key, *both) for key, both in zip(keys, held, strict=True)]


def same(said: dict[str, Any], own: dict[str, Any]) -> None:
    """Refuse blocks of another model or size."""
    for name, what in (
        ("model", "weights of another model"),
        ("block_size", "blocks of another size"),
        ("shape", "blocks of another shape"),
    ):
        if said.get(name) != own[name]:
            raise ValueError(
                f"{what}: {name} {said.get(name)!r:.40} there, {own[name]!r:.40} here"
            )


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


class Crossed(Engine):
    """An engine whose blocks cross."""

    @property
    def head(self) -> dict[str, Any]:
        """What its blocks are: of who takes them the same."""
        return head(fingerprint(self.model), self._pool.shape)


class Reader(Crossed):
    """An engine whose blocks can be had."""

    def computed(self, prompt: Sequence[int]) -> bytes:
        """Each full block of a prompt that it has read and still holds."""
        allocator = self._memory.allocator
        found = allocator.match(prompt).blocks
        keys = allocator.keys(prompt)[: len(found)]
        entries = [
            (key, *self._pool.read(block))
            for key, block in zip(keys, found, strict=True)
        ]
        return packed(self.head, entries)


class Writer(Crossed):
    """An engine that takes blocks which others computed."""

    def __init__(self, model: tinylm.TinyLM, *, held: int = HELD, **sizes: Any) -> None:
        self.below = HostTier(held)
        super().__init__(model, tiers=(self.below,), **sizes)

    def take(self, data: bytes, prompt: Sequence[int]) -> int:
        """Keep what has come for a prompt; how many bytes of blocks it is.

        - raises ``ValueError`` for blocks of another model, size or prompt
        """
        entries = unpacked(data, self.head)
        own = self._memory.allocator.keys(prompt)
        if [key for key, _, _ in entries] != own[: len(entries)]:
            raise ValueError("the blocks are of another prompt")
        for key, k, v in entries:
            assert isinstance(key, bytes)
            self.below.put(self._memory.named(key), k, v)
        return sum(k.nbytes + v.nbytes for _, k, v in entries)


def reading(other: Connection, prompts: Sequence[Sequence[int]]) -> list[int]:
    """Read each prompt and send its blocks; the first token of each answer."""
    engine, first = Reader(tinylm.load(), **SIZES), []
    for prompt in prompts:
        first += answered(engine, prompt, 1)
        other.send_bytes(engine.computed(prompt))
    return first


def writing(
    other: Connection, prompts: Sequence[Sequence[int]], new: int
) -> dict[str, Any]:
    """Answers from blocks that came: tokens, blocks found, bytes that crossed."""
    engine = Writer(tinylm.load(), **SIZES)
    size, outputs = 0, []
    for prompt in prompts:
        size += engine.take(other.recv_bytes(), prompt)
        outputs.append(answered(engine, prompt, new))
    return {"outputs": outputs, "found": engine.below.moved.gets, "bytes": size}


def run_two_pools(prompts: Sequence[Sequence[int]], new: int) -> dict[str, Any]:
    """Answers of two processes that share each request, and what crossed."""
    program = [sys.executable, "-m", __name__, json.dumps([prompts, new])]
    first, found = run_ranks(program, 2, limit_s=LIMIT)
    return {"first": first, **found}


def one_rank(words: Sequence[str], *sides: Callable[..., Any]) -> None:
    """Print what one side answers.

    - ``words``: what is asked, rank, world, and where to meet
    - ``sides``: are given the other end, prompts, and tokens to write
    """
    rank = int(words[1])
    with joined(rank, words[3]) as other:
        print(json.dumps(sides[rank](other, *json.loads(words[0]))))


def main(words: Sequence[str]) -> None:
    """Of the process that reads, and of the one that writes."""
    one_rank(words, lambda other, prompts, new: reading(other, prompts), writing)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Blocks as bytes: a line that says what they are, then their numbers.

Nothing of it is run when it is read. The line has the model's fingerprint and the size
of a block, because keys and values of others would be taken for one's own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tiers.held import Entry

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
    """The blocks that `packed` wrote.

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

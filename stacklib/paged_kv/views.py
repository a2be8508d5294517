"""An allocator as others see it: its counts, one block, and whether all is in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .allocator import BlockAllocator, Sequence
    from .content import Node


@dataclass
class Counts:
    """What happened since the allocator was made."""

    asked: int = 0
    hit: int = 0
    evicted: int = 0
    copied: int = 0


class Stats(NamedTuple):
    """Blocks by state, tokens in owned blocks, and what happened so far.

    ``tokens`` counts a shared block once; ``asked`` and ``hit`` are tokens of prompts.
    """

    blocks: int
    free: int
    cached: int
    owned: int
    sequences: int
    tokens: int
    slots: int
    asked: int
    hit: int
    evicted: int
    copied: int

    @property
    def hit_rate(self) -> float:
        """Share of the prompts' tokens that were found; 0 before the first."""
        return self.hit / self.asked if self.asked else 0.0

    @property
    def utilisation(self) -> float:
        """Share of the owned blocks' slots that hold a token; 1 where none is owned."""
        return self.tokens / self.slots if self.slots else 1.0


class BlockView(NamedTuple):
    """One block: who owns it, the hash of its content, steps since it was freed."""

    block: int
    state: str
    owners: tuple[Any, ...]
    hash: int | None
    age: int
    tokens: tuple[int, ...]


def fills(pool: BlockAllocator) -> dict[int, int]:
    """Tokens in each owned block: the most that any of its owners has there."""
    filled: dict[int, int] = {}
    for sequence in pool.sequences:
        for n, block in enumerate(sequence.blocks):
            here = min(pool.block_size, len(sequence) - n * pool.block_size)
            filled[block] = max(here, filled.get(block, 0))
    return filled


def stats(pool: BlockAllocator) -> Stats:
    """The counts of a ``pool``."""
    filled = fills(pool)
    return Stats(
        blocks=pool.blocks,
        free=len(pool.free_blocks),
        cached=len(pool.unused),
        owned=len(filled),
        sequences=len(pool.sequences),
        tokens=sum(filled.values()),
        slots=len(filled) * pool.block_size,
        **vars(pool.counts),
    )


def table(pool: BlockAllocator, block: int) -> BlockView:
    """One ``block`` of a ``pool``."""
    node, owners = pool.holds[block], []
    tokens: tuple[int, ...] = ()
    for sequence in sorted(pool.sequences, key=lambda s: str(s.owner)):
        if block in sequence.blocks:
            start = sequence.blocks.index(block) * pool.block_size
            here = tuple(sequence.tokens[start : start + pool.block_size])
            owners.append(sequence.owner)
            tokens = max(tokens, here, key=len)
    if node and not owners:
        tokens = tuple(memoryview(node.content).cast("q"))
    state = "owned" if owners else "cached" if block in pool.unused else "free"
    age = 0 if owners else pool.step - pool.used_at[block]
    return BlockView(
        block, state, tuple(owners), node.hash if node else None, age, tokens
    )


def check(pool: BlockAllocator) -> None:
    """Every invariant of a ``pool``; AssertionError names the first that is broken."""
    used = Counter(b for sequence in pool.sequences for b in sequence.blocks)
    for block in range(pool.blocks):
        assert pool.owners[block] == used[block], f"block {block}: wrong count"
    places = [*pool.free_blocks, *pool.unused, *used]
    assert sorted(places) == list(range(pool.blocks)), "a block lost, or in two places"
    for sequence in pool.sequences:
        _check_sequence(pool, sequence)
    _check_contents(pool)


def _check_sequence(pool: BlockAllocator, sequence: Sequence) -> None:
    who, size = f"sequence of {sequence.owner!r}", pool.block_size
    assert len(sequence.blocks) == pool.needed(len(sequence)), f"{who}: table"
    assert len(set(sequence.blocks)) == len(sequence.blocks), f"{who}: a block twice"
    node: Node | None = sequence.node or pool.contents.root
    for n in range(sequence.named - 1, -1, -1):
        content = sequence.tokens[n * size : (n + 1) * size].tobytes()
        assert node and node.content == content, (
            f"{who}: block {n} is known by another content"
        )
        assert pool.holds[sequence.blocks[n]] is node, f"{who}: block {n} not found"
        node = node.parent
    assert node is pool.contents.root, f"{who}: its prefix does not begin at the root"
    if sequence.blocks and len(sequence) < sequence.quick:  # it may write its last one
        last = sequence.blocks[-1]
        alone = pool.owners[last] == 1 and pool.holds[last] is None
        assert alone, f"{who}: writes block {last}, which is shared or findable"


def _check_contents(pool: BlockAllocator) -> None:
    held: dict[int, Any] = {}
    children: Counter[Any] = Counter()
    for node in pool.contents.nodes():
        children[node.parent] += 1
        for block in (*([] if node.block is None else [node.block]), *node.twins):
            assert block not in held, f"block {block} holds two contents"
            held[block] = node
        assert node.block is not None or not node.twins, "twins of nothing"
        for block in node.twins:
            assert pool.owners[block], f"block {block}: unused and a second copy"
    for block in range(pool.blocks):
        assert pool.holds[block] is held.get(block), f"block {block}: content lost"
    for parent in (pool.contents.root, *pool.contents.nodes()):
        assert parent.children == children[parent], "children miscounted"
    for block in pool.unused:
        kept = pool.holds[block]
        assert kept is not None and kept.block == block, f"block {block}: unused, empty"
    for block in pool.free_blocks:
        assert pool.holds[block] is None, f"block {block}: free, with content"

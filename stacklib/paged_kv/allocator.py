"""A pool of equal blocks, and the sequences whose tokens they hold.

A sequence's table lists its blocks in order; nobody reserves what he may need later.
Full blocks are found by content and shared; a block that is shared or findable is never
written, but copied first. Freed blocks stay findable until somebody needs them: the one
unused longest leaves first, of a sequence its last. Every step is O(1) a block, also
taking a block back from the middle of those unused (an ``OrderedDict`` is a doubly
linked list).

Not for two threads at once: whoever runs the engine's steps makes every call, ``stats``
and ``match`` too. Nothing here takes a lock.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from zlib import crc32

from stacklib.quantity.bounds import whole

from . import views
from .content import Contents, Node, key, keys, why
from .found import WIDTH, Match, as_token, as_tokens


class Short(NamedTuple):
    """The sum of a refusal: blocks needed, free ones, and unused ones with content."""

    needed: int
    free: int
    evictable: int

    def __str__(self) -> str:
        return f"{self.needed} needed, {self.free} free and {self.evictable} to evict"


class Sequence:
    """One request's tokens and the blocks that hold them; made by an allocator.

    ``owner`` is who asked, ``tokens`` an array, ``blocks`` the table, ``cached`` how
    many tokens were found when it was allocated.
    """

    __slots__ = tuple("blocks cached named node owner publishes quick tokens".split())

    def __init__(
        self, owner: Any, tokens: array[int], blocks: list[int], nodes: list[Node]
    ) -> None:
        self.owner = owner
        self.tokens = tokens
        self.blocks = blocks
        self.named = len(nodes)  # blocks that are findable
        self.node = nodes[-1] if nodes else None  # the last of them
        self.cached = 0
        self.publishes = True
        self.quick = 0  # below this length a token needs no look at the blocks

    def __len__(self) -> int:
        return len(self.tokens)

    def __bool__(self) -> bool:
        return True  # an empty one is no refusal


class BlockAllocator:
    """Gives sequences blocks of ``block_size`` tokens each, as they grow.

    Parameters
    ----------
    blocks : int
        How many there are.
    block_size : int
        Tokens a block holds.
    hash : callable
        Names a block from its content and the name of the block before it, 0 for the
        first: the CRC-32 of all up to there.
    on_evict : callable, optional
        Called with a block and its content's key before the block is used anew.
    on_copy : callable, optional
        Called with source and target when a block has to be copied, now.

    Attributes
    ----------
    step : int
        Set by the engine; says when something was evicted.
    short : Short or None
        The sum of the last ``allocate`` or ``append`` that was refused.

    Raises
    ------
    ValueError
        For anything but whole numbers from one.
    """

    def __init__(
        self,
        blocks: int,
        block_size: int = 16,
        *,
        hash: Callable[[bytes, int], int] = crc32,
        on_evict: Callable[[int, bytes], object] | None = None,
        on_copy: Callable[[int, int], object] | None = None,
    ) -> None:
        whole(blocks=blocks, block_size=block_size)
        self.blocks, self.block_size = int(blocks), int(block_size)
        self.contents = Contents(self.block_size * WIDTH, hash, self.blocks)
        self.on_evict, self.on_copy = on_evict, on_copy
        self.free_blocks = list(range(self.blocks))[::-1]  # without content
        self.unused: OrderedDict[int, None] = OrderedDict()  # with content; LRU first
        self.owners = [0] * self.blocks
        self.holds: list[Node | None] = [None] * self.blocks
        self.used_at = [0] * self.blocks
        self.sequences: set[Sequence] = set()
        self.behind: dict[Sequence, int] = {}  # tokens of which full blocks lack names
        self.counts = views.Counts()
        self.step = 0
        self.short: Short | None = None

    def needed(self, tokens: int) -> int:
        """Blocks that hold so many ``tokens``; ValueError for a negative number."""
        whole(0, tokens=tokens)
        return -(-tokens // self.block_size)

    def allocate(
        self, tokens: Iterable[int], *, owner: Any = None, publish: bool = True
    ) -> Sequence | None:
        """Blocks for a prompt: those of its longest known prefix, the rest new.

        Parameters
        ----------
        tokens : iterable of int
            The prompt. Its last token is never taken from others: somebody has to
            compute what comes after it.
        owner : object, optional
            Who asks.
        publish : bool
            Whether full blocks are findable at once, now and when tokens are appended.
            An engine that computes later says no, and calls ``publish``.

        Returns
        -------
        Sequence or None
            None where blocks are short, with the sum in ``short``; nothing has changed.

        Raises
        ------
        ValueError
            For tokens that are no whole numbers.
        """
        own, nodes, table = self._found(tokens)
        fresh = self._take(-(-len(own) // self.block_size) - len(table), table, owner)
        if fresh is None:
            return None
        for block in table:
            self.owners[block] += 1
        sequence = Sequence(owner, own, table + fresh, nodes)
        sequence.cached = len(table) * self.block_size
        sequence.publishes = publish
        self.sequences.add(sequence)
        self.counts.asked += len(own)
        self.counts.hit += sequence.cached
        if publish:
            self._name(sequence, len(own))
        return sequence

    def fits(self, tokens: Iterable[int]) -> bool:
        """Whether ``allocate`` has room for these ``tokens``; if not, see ``short``.

        It changes nothing else. ValueError for tokens that are none.
        """
        own, _, table = self._found(tokens)
        count = -(-len(own) // self.block_size) - len(table)
        return count <= len(self.free_blocks) or self._idle(count, table) is not None

    def append(self, sequence: Sequence, token: int) -> bool:
        """Add a token; False where it needs a block and none is left (see ``short``).

        Parameters
        ----------
        sequence : Sequence
            Whose token it is.
        token : int
            A whole number of 64 bits.

        Raises
        ------
        ValueError
            For another token, and for a sequence that was freed.
        """
        tokens = sequence.tokens
        if len(tokens) < sequence.quick and type(token) is int:
            try:
                tokens.append(token)
                return True
            except OverflowError:
                pass  # the error below says it in our words
        return self._append(sequence, as_token(token))

    def _append(self, sequence: Sequence, token: int) -> bool:
        if sequence not in self.sequences:
            self._settle(sequence)
        tokens, table, length = sequence.tokens, sequence.blocks, len(sequence.tokens)
        if length == len(table) * self.block_size:
            if not self.free_blocks and not self._make_room(1, [], sequence.owner):
                return False
            table.append(self._pop())
        elif self.owners[table[-1]] > 1 or self.holds[table[-1]] is not None:
            if not self._copy_last(sequence):
                return False
        tokens.append(token)
        room = len(table) * self.block_size
        if sequence.publishes:
            room -= 1  # the token that fills a block comes by here
            if length == room:
                self.behind[sequence] = length + 1  # named when somebody searches
        sequence.quick = room
        return True

    def _copy_last(self, sequence: Sequence) -> bool:
        """Copy on write: what others use or may find stays as it is."""
        if not self._make_room(1, [], sequence.owner):
            return False
        source, target = sequence.blocks[-1], self.free_blocks[-1]
        if self.on_copy:
            self.on_copy(source, target)
        sequence.blocks[-1] = self._pop()
        self._release([source])
        self.counts.copied += 1
        return True

    def publish(self, sequence: Sequence, tokens: int) -> None:
        """Make the full blocks among the first tokens findable: they are computed.

        Parameters
        ----------
        sequence : Sequence
            Allocated with ``publish=False``.
        tokens : int
            How many are computed; fewer than before change nothing.

        Raises
        ------
        ValueError
            For more tokens than it has, and for a sequence that was freed.
        """
        self._settle(sequence)
        whole(0, tokens=tokens)
        if tokens > len(sequence.tokens):
            raise ValueError(
                f"tokens = {tokens}: the sequence has {len(sequence.tokens)}; "
                "publish what is computed"
            )
        self._name(sequence, tokens)

    def _name(self, sequence: Sequence, tokens: int) -> None:
        named, last = sequence.named, tokens // self.block_size
        if last <= named:
            return
        node, put = sequence.node or self.contents.root, self.contents.put
        width = self.contents.width
        text = sequence.tokens[named * self.block_size :].tobytes()
        for n, block in enumerate(sequence.blocks[named:last]):
            node = put(node, text[n * width : (n + 1) * width])
            if node.block is None and node.gone is None:
                node.block = block  # as nearly always: new, and here only
                self.holds[block] = node
            elif self.holds[block] is not node:  # else a fork published it
                self._hold_too(block, node)
        sequence.node, sequence.named = node, last

    def _hold_too(self, block: int, node: Node) -> None:
        self.holds[block] = node
        if node.block is None:
            self.contents.regain(node, block)
        elif self.owners[node.block] == 0:  # one in use is worth more than one unused
            del self.unused[node.block]
            self._empty(node.block)
            node.block = block
        else:
            node.twins += (block,)

    def truncate(self, sequence: Sequence, length: int) -> None:
        """Roll back to the first ``length`` tokens; blocks behind them are released.

        Parameters
        ----------
        sequence : Sequence
            Whose drafts were rejected.
        length : int
            Tokens that stay.

        Raises
        ------
        ValueError
            For a length it does not have, and for a sequence that was freed.
        """
        self._settle(sequence)
        whole(0, length=length)
        if length > len(sequence.tokens):
            raise ValueError(
                f"length = {length}: the sequence has {len(sequence.tokens)} tokens; "
                "truncate to no more"
            )
        keep = self.needed(length)
        self._release(sequence.blocks[keep:])
        del sequence.blocks[keep:], sequence.tokens[length:]
        while sequence.named > length // self.block_size and sequence.node:
            sequence.node = sequence.node.parent
            sequence.named -= 1
        sequence.cached = min(sequence.cached, length)
        sequence.quick = 0

    def fork(self, sequence: Sequence, *, owner: Any = None) -> Sequence:
        """A second sequence with the same tokens in the same blocks.

        Parameters
        ----------
        sequence : Sequence
            It goes on as before; whoever appends first gets a copy of the last block.
        owner : object, optional
            Who asks.

        Returns
        -------
        Sequence
            It takes no block now.

        Raises
        ------
        ValueError
            For a sequence that was freed.
        """
        self._settle(sequence)
        twin = Sequence(owner, sequence.tokens[:], sequence.blocks[:], [])
        twin.named, twin.node = sequence.named, sequence.node
        twin.cached, twin.publishes = sequence.cached, sequence.publishes
        for block in twin.blocks:
            self.owners[block] += 1
        sequence.quick = 0
        self.sequences.add(twin)
        return twin

    def free(self, sequence: Sequence) -> None:
        """Give all blocks back; what is findable in them stays so until it is evicted.

        Parameters
        ----------
        sequence : Sequence
            It cannot be used afterwards.

        Raises
        ------
        ValueError
            For a sequence that was freed before, or that another allocator made.
        """
        self._settle(sequence)
        self.sequences.remove(sequence)
        self._release(sequence.blocks)
        sequence.blocks, sequence.quick = [], 0

    def match(self, tokens: Iterable[int]) -> Match:
        """What ``allocate`` would find for these ``tokens``, and why no more.

        It changes nothing. The reason costs a look at every content in memory;
        ``allocate`` does not ask for it. ValueError for tokens that are none.
        """
        own, nodes, blocks = self._found(tokens)
        reason = why(self.contents, own, nodes)
        return Match(len(nodes) * self.block_size, blocks, reason)

    def keys(self, tokens: Iterable[int]) -> list[bytes]:
        """The key of each full block's content in ``tokens``, as ``on_evict`` gets it.

        ValueError for tokens that are none.
        """
        text, width = as_tokens(tokens).tobytes(), self.contents.width
        full = range(0, len(text) // width * width, width)
        return list(keys(text[start : start + width] for start in full))

    def stats(self) -> views.Stats:
        """Blocks by state, tokens in them, and what was asked for and found."""
        self._catch_up()
        return views.stats(self)

    def table(self, block: int) -> views.BlockView:
        """One ``block`` as a reader sees it; ValueError where there is none."""
        whole(0, block=block)
        if block >= self.blocks:
            raise ValueError(f"block = {block}: there are {self.blocks}, from 0")
        self._catch_up()
        return views.table(self, block)

    def check(self) -> None:
        """AssertionError where a block is not free, unused or owned exactly once."""
        views.check(self)

    def _settle(self, sequence: Sequence) -> None:
        """Refuse a sequence that is not ours (now); name what it filled meanwhile."""
        if sequence not in self.sequences:
            raise ValueError(
                f"the sequence of {sequence.owner!r} is none of this allocator's, "
                "or was freed before"
            )
        if sequence in self.behind:
            self._name(sequence, self.behind.pop(sequence))

    def _catch_up(self) -> None:
        """Name what was filled since somebody looked."""
        while self.behind:
            self._name(*self.behind.popitem())

    def _found(self, tokens: Iterable[int]) -> tuple[array[int], list[Node], list[int]]:
        own = as_tokens(tokens)
        self._catch_up()
        nodes = self.contents.walk(own.tobytes(), (len(own) - 1) // self.block_size)
        return own, nodes, [node.block for node in nodes if node.block is not None]

    def _take(self, count: int, keep: list[int], owner: Any) -> list[int] | None:
        """New blocks; those to ``keep`` leave the unused ones. None where short."""
        if not self._make_room(count, keep, owner):
            return None
        split = len(self.free_blocks) - count
        taken = self.free_blocks[split:][::-1]
        del self.free_blocks[split:]
        for block in taken:
            self.owners[block] = 1
        for block in keep:
            self.unused.pop(block, None)
        return taken

    def _pop(self) -> int:
        block = self.free_blocks.pop()
        self.owners[block] = 1
        return block

    def _make_room(self, count: int, keep: list[int], owner: Any) -> bool:
        if count <= len(self.free_blocks):
            return True
        if (idle := self._idle(count, keep)) is None:
            return False
        for block in reversed(idle):  # the newest now, so that none of them leaves
            self.unused.move_to_end(block)
        for _ in range(count - len(self.free_blocks)):
            self._evict(owner)
        return True

    def _idle(self, count: int, keep: list[int]) -> list[int] | None:
        """Those to keep that nobody uses; None where the others are short of count."""
        idle = [block for block in keep if self.owners[block] == 0]
        free, evictable = len(self.free_blocks), len(self.unused) - len(idle)
        if count <= free + evictable:
            return idle
        self.short = Short(count, free, evictable)
        return None

    def _evict(self, owner: Any) -> None:
        """The block unused longest loses its content, which may be saved before."""
        block = next(iter(self.unused))
        node = self.holds[block]
        assert node is not None
        if node.twins:
            self.unused.popitem(last=False)
            node.block, *others = node.twins
            node.twins = tuple(others)
        else:
            if self.on_evict:
                self.on_evict(block, key(node))
            self.unused.popitem(last=False)
            self.contents.lose(node, self.step, owner)
            self.counts.evicted += 1
        self._empty(block)

    def _empty(self, block: int) -> None:
        self.holds[block] = None
        self.free_blocks.append(block)

    def _release(self, blocks: list[int]) -> None:
        """One owner less each, the last block first, so that it is evicted first."""
        owners, step = self.owners, self.step
        for block in reversed(blocks):
            owners[block] -= 1
            if owners[block]:
                continue
            self.used_at[block] = step
            node = self.holds[block]
            if node is None:
                self.free_blocks.append(block)
            elif node.block == block:
                self.unused[block] = None
            else:
                node.twins = tuple(b for b in node.twins if b != block)
                self._empty(block)

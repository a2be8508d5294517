"""Beginnings of any length: a tree whose edges are runs of tokens.

An edge holds whole pages and is compared as one slice; a match that ends inside an edge
splits it, so that what was used and what was not have ages of their own. Leaves that
nobody holds are evicted whole, by one of two rules:

- *lru*: the one used longest ago.
- *cost*: the one cheapest to compute again, per token held. A token behind c others
  costs the weights once and attention over c, so 1 + c / even with *even* the context
  where both are equal; an age is added as in GreedyDual (Young 1994: a leaf starts from
  the worth of the last one evicted), so that what is expensive leaves in the end.

One thread at a time, as for the allocator. Not modelled: merging edges again that no
branch separates any more.
"""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any

from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantity.names import resolve

from .found import WIDTH, Match, Why, as_tokens, at, common

REMEMBERED = 1024  # evicted leaves that a match can still name
LOOKED_AT = 8  # children, the latest, that a match is compared with for its reason
# Attention over so many tokens costs as much as the weights: 2 x 69.5e9 operations over
# 4 x 80 layers x 8,192, for Llama-3-70B.
EVEN = 53_000
POLICIES = {
    "lru": lambda tree, node: node.used,
    "cost": lambda tree, node: node.level + 1 + node.middle() / WIDTH / tree.even,
}


class Node:
    """An edge: its tokens, their blocks, and what goes on from its end."""

    __slots__ = tuple(
        "blocks children end gone level locks parent queued text used".split()
    )

    def __init__(self, parent: Node | None, text: bytes, blocks: list[int]) -> None:
        self.parent = parent
        self.text = text
        self.blocks = blocks
        self.end: int = len(text) + (parent.end if parent else 0)  # in bytes
        self.children: dict[bytes, Node] = {}  # by their first page
        self.gone: dict[bytes, tuple[int, Any]] = {}  # evicted ones, likewise
        self.locks = 0
        self.used = 0
        self.level = 0.0
        self.queued = False

    def middle(self) -> float:
        """Where the edge's middle is, from the root, in bytes."""
        return self.end - len(self.text) / 2


class Lock:
    """A beginning held against eviction: how many tokens, in which blocks."""

    __slots__ = ("blocks", "node", "tokens")

    def __init__(self, tokens: int, blocks: list[int], node: Node) -> None:
        self.tokens = tokens
        self.blocks = blocks
        self.node = node


class PrefixTree:
    """Finds the longest stored beginning of a prompt, whole pages of it.

    Parameters
    ----------
    page : int
        Tokens a page; a match and an edge have whole pages.
    policy : str
        Which unheld leaf leaves first, ``lru`` or ``cost``.
    even : float
        For ``cost``: the context at which attention costs as much as the weights.

    Attributes
    ----------
    step : int
        Set by the engine; says when something was evicted.
    tokens, locked : int
        How many are stored, and how many of them are held.

    Raises
    ------
    ValueError
        For a page that is no whole number from one, or a context not above zero.
    LookupError
        For a policy there is none of.
    """

    def __init__(
        self, page: int = 1, policy: str = "lru", *, even: float = EVEN
    ) -> None:
        whole(page=page)
        above_zero(even=even)
        self.page, self.even = int(page), even
        self.policy = resolve(policy, POLICIES, "policy", exact=True)
        self.root = Node(None, b"", [])
        self.tokens = self.locked = self.step = 0
        self.held: set[Lock] = set()
        self.leaves: list[tuple[float, int, Node]] = []  # a heap; may lag behind
        self.evicted: deque[tuple[Node, bytes]] = deque()
        self.level = 0.0
        self.clock = self.pages = 0
        self.order = count()

    @property
    def evictable(self) -> int:
        """Tokens that nobody holds."""
        return self.tokens - self.locked

    def match(self, tokens: Iterable[int]) -> Match:
        """The longest stored beginning; what it finds counts as used.

        Parameters
        ----------
        tokens : iterable of int
            A prompt. Leave its last token out where that has to be computed.

        Returns
        -------
        Match
            Tokens, their blocks (one a page), and why no more.

        Raises
        ------
        ValueError
            For tokens that are no whole numbers.
        """
        text = self._text(tokens)
        node, blocks = self._walk(text)
        return Match(node.end // WIDTH, blocks, self._why(text, node))

    def insert(self, tokens: Iterable[int], blocks: Sequence[int] | None = None) -> int:
        """Store a beginning, whole pages of it; how many tokens were there before.

        Parameters
        ----------
        tokens : iterable of int
            What was computed.
        blocks : sequence of int, optional
            Where, one a page. For tokens that were there before the tree keeps the
            blocks it has, and the caller frees these. Without, the tree numbers pages
            as they come.

        Returns
        -------
        int
            A multiple of the page.

        Raises
        ------
        ValueError
            For tokens that are none, or another number of blocks.
        """
        text = self._text(tokens)
        size = self.page * WIDTH
        if blocks is not None and len(blocks) != len(text) // size:
            raise ValueError(
                f"blocks: {len(blocks)} for {len(text) // size} whole pages; "
                "one a page is needed"
            )
        text = text[: len(text) // size * size]
        node, _ = self._walk(text)
        start = node.end
        if start < len(text):
            if blocks is None:
                self.pages += (len(text) - start) // size
                own = list(range(self.pages - (len(text) - start) // size, self.pages))
            else:
                own = list(blocks[start // size :])
            self._add(Node(node, text[start:], own))
            self.tokens += (len(text) - start) // WIDTH
        return start // WIDTH

    def evict(self, tokens: int, *, owner: Any = None) -> list[int]:
        """Drop leaves until so many tokens are gone, or none is left that nobody holds.

        Parameters
        ----------
        tokens : int
            How many, at least; the last leaf goes as a whole.
        owner : object, optional
            For whom.

        Returns
        -------
        list of int
            Their blocks.

        Raises
        ------
        ValueError
            For anything but a whole number from 0.
        """
        whole(0, tokens=tokens)
        goal, blocks = self.tokens - tokens, []
        while self.tokens > goal and self.leaves:
            worth, _, node = heapq.heappop(self.leaves)
            node.queued = False
            if node.children or node.locks:
                continue  # comes back when it is a leaf, or let go
            if worth < POLICIES[self.policy](self, node):
                self._queue(node)  # was used since
                continue
            self.level = worth
            blocks += node.blocks
            self._drop(node, owner)
        return blocks

    def lock(self, tokens: Iterable[int]) -> Lock:
        """Find a beginning as ``match`` does, and hold it until ``unlock``.

        Parameters
        ----------
        tokens : iterable of int
            A prompt.

        Raises
        ------
        ValueError
            For tokens that are none.
        """
        node, blocks = self._walk(self._text(tokens))
        lock = Lock(node.end // WIDTH, blocks, node)
        self.held.add(lock)
        for above in self._path(node):
            self.locked += 0 if above.locks else len(above.text) // WIDTH
            above.locks += 1
        return lock

    def unlock(self, lock: Lock) -> None:
        """Let go of what a ``lock`` holds; ValueError where it was let go before."""
        if lock not in self.held:
            raise ValueError(f"the lock of {lock.tokens} tokens is not held here (now)")
        self.held.remove(lock)
        for above in self._path(lock.node):
            above.locks -= 1
            if not above.locks:
                self.locked -= len(above.text) // WIDTH
                self._queue(above)

    def nodes(self) -> Iterator[Node]:
        """Every edge, parents before children."""
        waiting = [self.root]
        for node in waiting:
            waiting += node.children.values()
        yield from waiting[1:]

    def check(self) -> None:
        """AssertionError where counts, locks or edges do not fit together."""
        size = self.page * WIDTH
        nodes = list(self.nodes())
        holders = [n for lock in self.held for n in self._path(lock.node)]
        assert self.tokens == sum(len(n.text) for n in nodes) // WIDTH, "tokens"
        held = sum(len(n.text) for n in nodes if n.locks)
        assert self.locked == held // WIDTH, "locked"
        for node in nodes:
            assert node.parent and node.text and len(node.text) % size == 0, "edge"
            assert node.parent.children[node.text[:size]] is node, "edge misplaced"
            assert node.end == node.parent.end + len(node.text), "depth"
            assert len(node.blocks) == len(node.text) // size, "blocks"
            assert node.locks == holders.count(node), "locks"
            assert node.queued or node.children or node.locks, "a leaf forgotten"

    def _text(self, tokens: Iterable[int]) -> bytes:
        if type(tokens) is array and tokens.typecode == "q":
            return tokens.tobytes()
        return as_tokens(tokens).tobytes()

    def _walk(self, text: bytes) -> tuple[Node, list[int]]:
        """The node where the longest stored beginning ends, and its blocks."""
        node, blocks, size, start = self.root, [], self.page * WIDTH, 0
        self.clock += 1
        while child := node.children.get(text[start : start + size]):
            end = child.end
            if text[start:end] != child.text:
                alike = common(text[start:end], child.text) * WIDTH // size * size
                child = self._split(child, alike)
                end = child.end
            blocks += child.blocks
            child.used, child.level = self.clock, self.level
            node, start = child, end
        return node, blocks

    def _split(self, node: Node, length: int) -> Node:
        """Cut an edge in two; the upper part is new, the lower keeps who holds it."""
        parent, size = node.parent, self.page * WIDTH
        assert parent
        upper = Node(parent, node.text[:length], node.blocks[: length // size])
        upper.locks = node.locks
        parent.children[node.text[:size]] = upper
        node.parent = upper
        node.text, node.blocks = node.text[length:], node.blocks[length // size :]
        upper.children[node.text[:size]] = node
        return upper

    def _add(self, node: Node) -> None:
        first, parent = node.text[: self.page * WIDTH], node.parent
        assert parent
        parent.children[first] = node
        parent.gone.pop(first, None)
        node.used, node.level = self.clock, self.level
        self._queue(node)

    def _queue(self, node: Node) -> None:
        if not node.queued and not node.children and node.parent:
            node.queued = True
            worth = POLICIES[self.policy](self, node)
            heapq.heappush(self.leaves, (worth, next(self.order), node))

    def _drop(self, node: Node, owner: Any) -> None:
        first, parent = node.text[: self.page * WIDTH], node.parent
        assert parent
        del parent.children[first]
        self.tokens -= len(node.text) // WIDTH
        parent.gone[first] = (self.step, owner)
        self.evicted.append((parent, first))
        if len(self.evicted) > REMEMBERED:
            above, forgotten = self.evicted.popleft()
            above.gone.pop(forgotten, None)
        if not parent.locks:
            self._queue(parent)

    def _path(self, node: Node) -> Iterator[Node]:
        while node.parent:
            yield node
            node = node.parent

    def _why(self, text: bytes, node: Node) -> Why:
        """Why the walk ended at a node: the first reason that holds."""
        start, size = node.end, self.page * WIDTH
        place, first = start // WIDTH, text[start : start + size]
        if not first:
            return Why("complete", place)
        if len(first) < size:
            return Why("shorter than a block", place, (size - len(first)) // WIDTH)
        if first in node.gone:
            step, owner = node.gone[first]
            return Why("evicted", place, step=step, owner=owner)
        if not node.children:
            return Why("never seen", place)
        nearest = _nearest(node, first)
        alike = common(first, nearest) if size > WIDTH else 0
        if not start and not alike:
            return Why("never seen", place)
        ours, theirs = at(first, alike), at(nearest, alike)
        return Why("another token", place + alike, 0, ours, theirs)


def _nearest(node: Node, first: bytes) -> bytes:
    """An edge of a node's latest ones, of those that begin with the same token if any.

    - ``node``: has children.
    - ``first``: the page that none of them begins with.
    """
    latest = reversed(node.children.values())
    edge = next(latest).text
    if len(first) > WIDTH:
        for child in islice(latest, LOOKED_AT):
            if edge[:WIDTH] == first[:WIDTH]:
                break
            edge = child.text
    return edge

"""Contents of full blocks, found by a chained hash and compared before they count.

A node stands for a prefix: the content of one block, and the node of all before it. Its
hash is made of its content and of the hash before it, so that equal blocks behind
unequal beginnings have unequal names. A hash may still collide (32 bits: among 100,000
blocks about one pair), and whoever trusts it reads another's cache; so content and
parent are compared, and nodes of one hash stand in a chain. Who may choose tokens can
make chains long, and lookups slow, but never wrong.

A node outlives its block for as many evictions as there are blocks: that is how a
search can say what was lost, when and for whom.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from .found import WIDTH, Why, at, common

BEFOREHAND = 131_072  # nodes, at most


class Node:
    """One full block's content behind one prefix, and the block that holds it."""

    __slots__ = tuple("block children content gone hash key other parent twins".split())

    def __init__(self) -> None:
        self.parent: Node | None = None
        self.content = b""
        self.hash = 0
        self.other: Node | None = None  # next of the same hash
        self.block: int | None = None
        self.twins: tuple[int, ...] = ()  # blocks in use, computed a second time
        self.children = 0
        self.key: bytes | None = None  # made when first asked for
        self.gone: tuple[int, Any] | None = None  # step, and for whom


class Contents:
    """All nodes by hash; those without a block are remembered for a while.

    - ``width``: bytes of a full block's tokens.
    - ``hash``: names a block, from its content and the name before it.
    - ``blocks``: how many there are, and how many evicted nodes are remembered.
    """

    def __init__(
        self, width: int, hash: Callable[[bytes, int], int], blocks: int
    ) -> None:
        self.width = width
        self.hash = hash
        self.memory = blocks
        self.root = Node()
        # Made beforehand: objects made later keep the garbage collector busy.
        self.spare = [Node() for _ in range(min(blocks, BEFOREHAND))]
        self.by_hash: dict[int, Node] = {}
        self.evicted: OrderedDict[Node, None] = OrderedDict()

    def walk(self, text: bytes, most: int) -> list[Node]:
        """The nodes of a text's blocks, as far as each of them is in memory.

        - ``text``: tokens as bytes.
        - ``most``: blocks to look for, at most.
        """
        node, found = self.root, []
        for start in range(0, most * self.width, self.width):
            after = self.find(node, text[start : start + self.width])
            if after is None or after.block is None:
                break
            found.append(after)
            node = after
        return found

    def find(self, parent: Node, content: bytes) -> Node | None:
        """The node of a content behind a prefix, in memory or remembered."""
        node = self.by_hash.get(self.hash(content, parent.hash))
        while node and (node.content != content or node.parent is not parent):
            node = node.other  # a collision: the hash alone would have lied
        return node

    def put(self, parent: Node, content: bytes) -> Node:
        """The node of a content behind a prefix, a new one where there was none."""
        name = self.hash(content, parent.hash)
        first = self.by_hash.get(name)
        node = self.find(parent, content) if first else None
        if node is None:
            node = self.spare.pop() if self.spare else Node()
            node.parent, node.content, node.hash = parent, content, name
            node.other = first
            self.by_hash[name] = node
            parent.children += 1
        return node

    def regain(self, node: Node, block: int) -> None:
        """A block holds the node's content (again)."""
        node.block = block
        if node.gone is not None:
            node.gone = None
            self.evicted.pop(node, None)

    def lose(self, node: Node, step: int, owner: Any) -> None:
        """The node's block goes to somebody else; the oldest such loss is forgotten."""
        node.block, node.gone = None, (step, owner)
        self.evicted[node] = None
        if len(self.evicted) > self.memory:
            self._forget(self.evicted.popitem(last=False)[0])

    def _forget(self, node: Node) -> None:
        # A node with children stays: they are behind *this* prefix.
        while node.block is None and not node.children and node not in self.evicted:
            if node.parent is None:
                return
            self._unlink(node)
            parent, node.parent = node.parent, None
            node.key = node.gone = None
            self.spare.append(node)
            node = parent
            node.children -= 1

    def _unlink(self, node: Node) -> None:
        before = self.by_hash[node.hash]
        if before is not node:
            while before.other is not node:
                assert before.other
                before = before.other
            before.other = node.other
        elif node.other:
            self.by_hash[node.hash] = node.other
        else:
            del self.by_hash[node.hash]

    def nodes(self) -> Iterator[Node]:
        """Every node but the root."""
        for node in self.by_hash.values():
            link: Node | None = node
            while link:
                yield link
                link = link.other


def key(node: Node) -> bytes:
    """A name that no other prefix has, for memory that cannot compare contents."""
    path = []
    while node.key is None and node.parent is not None:
        path.append(node)
        node = node.parent
    made = node.key or b""
    for node in reversed(path):
        made = node.key = next(keys([node.content], made))
    return made


def keys(contents: Iterable[bytes], before: bytes = b"") -> Iterator[bytes]:
    """Such names for a prefix's blocks: SHA-256 over the name before and the content.

    - ``contents``: of each block in turn, its tokens as bytes.
    - ``before``: the name of what stands before them.
    """
    for content in contents:
        before = sha256(before + content).digest()
        yield before


def why(contents: Contents, tokens: array[int], found: list[Node]) -> Why:
    """Why no more of ``tokens`` was found than the nodes ``found``."""
    parent, width = found[-1] if found else contents.root, contents.width
    start = len(found) * width
    place, rest = start // WIDTH, tokens.tobytes()[start : start + width]
    if not rest:
        return Why("complete", place)
    if len(rest) < width:
        return Why("shorter than a block", place, missing=(width - len(rest)) // WIDTH)
    node = contents.find(parent, rest)
    if node is not None and node.block is not None:
        return Why("last token", place)
    if node is not None and node.gone is not None:
        return Why("evicted", place, step=node.gone[0], owner=node.gone[1])
    others = [n.content for n in contents.nodes() if n.parent is parent]
    alike, nearest = max(((common(rest, o), o) for o in others), default=(0, b""))
    if not others or not (found or alike):
        return Why("never seen", place)
    ours, theirs = at(rest, alike), at(nearest, alike)
    return Why("another token", place + alike, token=ours, theirs=theirs)

"""Why a search by blocks ends: the first reason that holds."""

from __future__ import annotations

from array import array

from .content import Contents, Node
from .found import WIDTH, Why, at, common


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

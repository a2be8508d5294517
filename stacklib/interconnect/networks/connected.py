"""Whether chips are connected, and what is left when links break."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from stacklib.quantity.bounds import is_whole

from .links import Link, check_node
from .paths import Next, Pair, islands, toward


def require_connected(
    name: str, ranks: int, pairs: Collection[Pair], after: Next, before: Next
) -> None:
    """Refuse chips between which there is no way; the message names the islands."""
    found = [one for one in islands(len(after), list(pairs)) if one[0] < ranks]
    if len(found) > 1:
        shown = "; ".join(said(island, ranks) for island in found[:9])
        more = "; ..." if len(found) > 9 else ""
        raise ValueError(
            f"{name} is not connected: {len(found)} islands, {shown}{more}"
        )
    for near, words in ((after, "from 0 to"), (before, "to 0 from")):
        far = toward(0, near).far[:ranks]
        if -1 in far:
            raise ValueError(f"{name}: there is no way {words} {far.index(-1)}")


def said(island: list[int], ranks: int) -> str:
    """An island as its chips, and how many switches."""
    chips = [node for node in island if node < ranks]
    runs: list[list[int]] = []
    for chip in chips:
        if runs and runs[-1][1] == chip - 1:
            runs[-1][1] = chip
        else:
            runs.append([chip, chip])
    words = [str(a) if a == b else f"{a} to {b}" for a, b in runs]
    shown = ", ".join(words[:4]) + (", ..." if len(words) > 4 else "")
    switches = len(island) - len(chips)
    return f"chips {shown}" + (f" with {switches} switches" if switches else "")


def broken_pairs(
    broken: Any, ranks: int, nodes: int, pairs: Collection[Pair]
) -> list[Pair]:
    """Links in both directions that go with a pair of nodes, or with a switch."""
    if is_whole(broken):
        check_node(broken, nodes)
        if broken < ranks:
            raise ValueError(
                f"node {broken} is a chip: without it there are other ranks; "
                f"switches are {ranks} to {nodes - 1}"
            )
        return [pair for pair in pairs if broken in pair]
    if not isinstance(broken, tuple | list) or len(broken) < 2:
        raise ValueError(f"{broken!r}: two nodes of a link, or a switch, can fail")
    one, other = broken[:2]
    found = [pair for pair in ((one, other), (other, one)) if pair in pairs]
    if not found:
        raise ValueError(f"there is no link between {one!r} and {other!r}")
    return found


def what_is_left(
    links: Iterable[Link], gone: Collection[Pair], cables: int | None
) -> tuple[Link, ...]:
    """Links without those that are gone, or with so many cables less in each."""
    left = []
    for link in links:
        if link[:2] not in gone:
            left.append(link)
        elif cables is not None and cables < link.cables:
            kept = link.cables - cables
            share = link.bandwidth * kept / link.cables
            left.append(link._replace(bandwidth=share, cables=kept))
    return tuple(left)

"""What joins two nodes, given as numbers or by the name of a link in the database."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from stacklib.quantity.bounds import above_zero, at_least, is_whole, whole

Wire = str | float  # a key of ``hardware.link``, or B/s in one direction


class Link(NamedTuple):
    """One direction of what joins two nodes."""

    source: int
    destination: int
    bandwidth: float  # B/s in this direction, all cables together
    latency: float = 0.0  # s
    cables: int = 1
    kind: str = "link"


def number(value: Any) -> float:
    """A float of a float or a quantity."""
    return float(getattr(value, "si", value))


def check_node(node: Any, nodes: int) -> None:
    """Refuse a number that no node has."""
    if not is_whole(node) or not 0 <= node < nodes:
        raise ValueError(f"node {node!r}: nodes are 0 to {nodes - 1}")


def checked(given: Any, nodes: int) -> Link:
    """A link from a tuple, each of its fields checked."""
    try:
        link = Link(*given)
    except TypeError:
        raise ValueError(
            f"link {given!r}: (source, destination, bandwidth, latency)"
        ) from None
    if _plain(link, nodes):
        return link  # as shapes make them: there are many
    ends = f"{link.source} -> {link.destination}"
    check_node(link.source, nodes)
    check_node(link.destination, nodes)
    if link.source == link.destination:
        raise ValueError(f"link {ends}: a node needs none to itself")
    above_zero(**{f"bandwidth of {ends}": link.bandwidth})
    at_least(0, **{f"latency of {ends}": link.latency})
    whole(**{f"cables of {ends}": link.cables})
    return link._replace(bandwidth=number(link.bandwidth), latency=number(link.latency))


def _plain(link: Link, nodes: int) -> bool:
    """Whether a link is of Python's own numbers, and all are fine."""
    return (
        tuple(map(type, link[:5])) == (int, int, float, float, int)
        and 0 <= link.source < nodes > link.destination >= 0
        and link.source != link.destination
        and 0 < link.bandwidth < math.inf > link.latency >= 0
        and link.cables > 0
    )


def wire(link: Wire, latency: float | None, hops: int = 1) -> Link:
    """One cable: its bandwidth, latency and kind; its ends are to be filled in.

    - ``link``: a key of ``hardware.link``, whose link_bandwidth is one cable's, or B/s.
    - ``latency``: s of this cable. None: the database's, or 0 where it has none or
      ``link`` is a number. The database's is of the whole way between two chips, so
      it is shared among the cables of that way.
    - ``hops``: cables of that way.
    """
    if latency is not None:
        at_least(0, latency=latency)
    if not isinstance(link, str):
        above_zero(link=link)
        return Link(0, 0, number(link), number(latency or 0.0))
    from stacklib import hardware

    found = hardware.link(link)
    wide = found.fields.get("link_bandwidth")
    if wide is None:
        raise ValueError(
            f"link {link!r}: the bandwidth of one link is not known; give it in B/s"
        )
    if latency is None:
        known = found.fields.get("latency")
        latency = 0.0 if known is None else known.si / hops
    return Link(0, 0, wide.si, number(latency), 1, found.key)


def both(one: int, other: int, of: Link, cables: int = 1) -> tuple[Link, Link]:
    """Two directions of some cables between two nodes."""
    made = Link(one, other, of.bandwidth * cables, of.latency, cables, of.kind)
    return made, made._replace(source=other, destination=one)

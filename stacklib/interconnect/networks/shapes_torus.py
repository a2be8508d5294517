"""Tori, plain and twisted.

A chip has a link up and one down each axis, and the last chip's goes round to the
first. The longest axis decides: what goes from one half of it to the other has only the
links of its middle and of its wrap. A twist lets the wraps of short axes move along the
long ones as well, and evens it out.
"""

from __future__ import annotations

from .lattice import Lattice, Twist, lattice
from .links import Link, Wire, wire
from .topology import Topology


def torus(
    shape: tuple[int, ...],
    twist: Twist = None,
    *,
    link: Wire = "ici_v4",
    latency: float | None = None,
) -> Topology:
    """A torus; an axis of two has one link, for its wrap joins the same chips.

    - ``shape``: chips along each axis: x, y, z, and w, v, u after them.
    - ``twist``: how far the wrap of an axis moves along others, as ``{"x": {"z": 4}}``;
      axes by letter or number. True is the twist in use for k x k x 2k and k x 2k x 2k.
    - ``link``: one link: a key of ``hardware.link``, or B/s in one direction.
    - ``latency``: seconds of each link; the database's where it is None.
    - raises ``ValueError`` for a shape without chips, and a twist that does not close:
      wraps that move along their own axis, further than an axis is long, or along each
      other.

    >>> plain, twisted = torus((4, 4, 8)), torus((4, 4, 8), twist=True)
    >>> loads = [max(one.loads(1).values()) for one in (plain, twisted)]
    >>> round(loads[0] / loads[1], 3)
    1.745
    """
    places = lattice(shape, twist)
    return built(places, wire(link, latency), named(places), {}, ())


def named(places: Lattice) -> str:
    """What a torus is called."""
    size = " x ".join(map(str, places.shape))
    return f"{'twisted ' if places.twisted else ''}torus {size}"


def built(
    places: Lattice,
    cable: Link,
    name: str,
    kinds: dict[tuple[int, int], str],
    extra: tuple[tuple[str, int], ...],
) -> Topology:
    """A torus's topology.

    - ``kinds``: of links that are not like the rest.
    """
    links = []
    for axis, way in places.steps():
        for node, to in enumerate(places.moved(axis, way)):
            kind = kinds.get((node, to), cable.kind)
            links.append(Link(node, to, cable.bandwidth, cable.latency, 1, kind))
    # All pairs' traffic keeps each link of a longest axis busy just as long as it takes
    # to cross the middle, if there is one: no split can be narrower.
    even = not places.twisted and max(places.shape) % 2 == 0
    proof = "all pairs' traffic fills the longest axis evenly" if even else ""
    count, splits = places.nodes, tuple(places.halves())
    return Topology(name, count, count, tuple(links), splits, proof, places, extra)

"""Drawings of section 6.8: how far a message gets on a torus; cubes and mirrors."""

from stacklib.interconnect import Topology
from stacklib.interconnect.networks.shapes_optical import cross_connect
from stacklib.pages.interconnect import torus as page
from stacklib.plots import drawing as d
from stacklib.quantity import chosen, counted

__all__ = ["cubes_and_mirrors", "reached_after"]

CHIP = "layer-5"
FLAT = (4, 8)  # chips; the twist lets short wraps move half of the long axis
TURN = {"x": {"y": 4}}
TRAY = (8, 8, 16)  # chips of a job, in cubes 2 x 2 x 4
BROKEN = 3


def flat(twist: bool) -> Topology:
    """One layer of the torus, plain or with the short axis's wraps turned."""
    return Topology.torus(FLAT, TURN if twist else None, link=1.0)


def reached(twist: bool) -> list[int]:
    """Links from the first chip to each."""
    net = flat(twist)
    return [net.routes(0, chip).hops for chip in range(net.ranks)]


def reached_after() -> d.Drawing:
    """Chips that a message can have reached after so many links, and over which."""
    steps = [
        (
            f"links: {hops}",
            d.flow(_grid("plain", False, hops), _grid("twisted", True, hops), gap=24),
        )
        for hops in range(1, max(reached(True)) + 1)
    ]
    title = (
        "A twist turns the wraps of the short axis into short cuts along the long one."
    )
    return d.draw(steps, name="torus-reached", title=title)


def _grid(name: str, twist: bool, hops: int) -> d.Node:
    far = reached(twist)
    near = [chip for chip, links in enumerate(far) if links <= hops]
    # The long axis runs to the right; one layer of the short one makes it visible.
    cells = d.Cells(
        f"chips of the {name} one",
        len(far),
        FLAT[1],
        side=14.0,
        gap=12.0,
        role=CHIP,
        lit=frozenset(near),
        words="chips reached where lit",
    )
    links = {(link.source, link.destination) for link in flat(twist).links}
    used = [
        (a, b)
        for a, b in links
        if far[a] < far[b] <= hops  # a step further out
    ]
    many = counted(len, near, label=f"reached, {name}, {hops} links")
    told = "an end goes on at its letter" if twist else "an end goes on opposite"
    return d.Box(
        name,
        [d.line(name, bold=True), d.line("reached: ", d.Shown(many, "")), told],
        d.mesh(cells, links, used, role=CHIP),
        role=CHIP,
    )


def cubes_and_mirrors() -> d.Drawing:
    """Two cubes joined by a mirror, before one of them fails and after."""
    before = cross_connect(TRAY)
    after = before.replaced(BROKEN)
    steps = [
        ("all are well", _joined(before.joins[0], None)),
        ("a spare takes its place", _joined(after.joins[0], BROKEN)),
    ]
    title = "When a cube fails, only mirrors move: no cable is touched."
    return d.draw(steps, name="torus-mirrors", title=title)


Joins = tuple[tuple[int, int], ...]


def standing(joins: Joins, gone: int | None) -> int:
    """The cube that fails, or behind it its spare."""
    return BROKEN if gone is None else max(map(max, joins))


def neighbour(joins: Joins, gone: int | None) -> int:
    """The cube that a mirror joins it to."""
    return dict(joins)[standing(joins, gone)]


def _joined(joins: Joins, gone: int | None) -> d.Node:
    """The cube that fails, or its spare, between the switch and its neighbour."""
    first = counted(standing, joins, gone, label="cube")
    second = counted(neighbour, joins, gone, label="neighbour")
    path = d.chain(
        d.Box(
            "a cube",
            [d.line("cube ", first, bold=True), d.line("face + x", role="muted")],
            d.Cells(
                "chips of a cube", 16, 4, side=7.0, role="layer-5", lit=frozenset({5})
            ),
            role="layer-5",
        ),
        d.Box(
            "optical switch",
            [
                d.line("optical switch", bold=True),
                d.line(page.used_ports(), " ports in use"),
                d.line("one place of the face", role="muted"),
            ],
            role="layer-2",
        ),
        d.Box(
            "its neighbour",
            [d.line("cube ", second, bold=True), d.line("face - x", role="muted")],
            d.Cells("its chips", 16, 4, side=7.0, role="layer-5", lit=frozenset({5})),
            role="layer-5",
        ),
    )
    words = "no cube is down" if gone is None else "down, and dark to the mirrors"
    out = d.Box(
        "out of use",
        [d.line("cube ", chosen(BROKEN, label="cube down"), bold=True)]
        if gone is not None
        else [d.line("spares", bold=True)],
        d.Words([d.line(words, role="muted")]),
        role="muted",
    )
    return d.below(path, out, gap=10)

"""Drawings of section 1.4: this machine opened, and what a copy really moves."""

from itertools import pairwise

from stacklib.pages.roofline.this_machine import machine
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.host import streams

__all__ = ["a_copys_lines", "this_machine_opened"]
UNITS = {"L1": "KiB", "L2": "MiB", "L3": "MiB"}
LINE = 8  # elements of a line, as many as are drawn


def this_machine_opened() -> d.Drawing:
    """One core, its caches and the memory, an arrow as wide as what was measured."""
    rows = {row.level: row for row in machine.level_rows(1)}
    full = _rate(rows["L1"])
    nodes: list[d.Node] = [d.Box("core", d.line("one core", bold=True))]
    for name, row in rows.items():
        inner = nodes[-1]
        assert isinstance(inner, d.Box)
        nodes.append(_pipe(name, inner.name, _rate(row), full))
        nodes.append(_level(row))
    title = "One core's bytes come the slower, the farther away they lie."
    return d.draw(d.below(*nodes, gap=0), name="host-opened", title=title)


def _rate(row: machine.LevelRow) -> Quantity:
    assert row.rate is not None
    return row.rate


def _pipe(name: str, inner: str, rate: Quantity, full: Quantity) -> d.Pipe:
    label = [(d.Shown(rate, "GB/s"), ", measured")]
    return d.Pipe(name, inner, rate, full, label, down=(True, True), least=28.0)


def _level(row: machine.LevelRow) -> d.Box:
    told: list[object] = [d.line(row.level, bold=True)]
    if row.reported is not None and row.found is not None:
        unit = UNITS[row.level]
        told.append((d.Shown(row.reported, unit), " as reported"))
        told.append((d.Shown(row.found, unit), " as the curve shows"))
    return d.Box(row.level, told, role="layer-2")


def a_copys_lines() -> d.Drawing:
    """Lines on the bus for a copy: with ordinary stores, and past the cache."""
    steps = [("ordinary stores", _copy(True)), ("past the cache", _copy(False))]
    title = "A store fetches the line that it overwrites, unless it is told not to."
    return d.draw(steps, name="host-copy", title=title)


def _copy(fetched: bool) -> d.Node:
    one = chosen(1, label="one element")
    size = chosen(8, "B", "bytes of an fp64 number")
    counted = streams.counted_bytes("copy", one, size)
    moved = streams.moved_bytes("copy", one, size) if fetched else counted
    lanes = {
        ("a line of a", "read"): ("layer-2", True),
        ("a line of b", "fetched"): ("layer-6", fetched),
        ("the line of b", "written"): ("layer-4", True),
    }
    words = moved.named("bytes on the bus for an element")
    crossing = [
        d.Edge(start, end, arrow="end", role=role, lit=True)
        for (line, way), (role, there) in lanes.items()
        if there
        for start, end in pairwise(_path(f"{line}, {way}", way))
    ]
    boxes = [_bus(*said, *how) for said, how in lanes.items()]
    scene = d.below(
        d.Box("core", [d.line("core: b[i] = a[i]", bold=True)]),
        d.right_of(*boxes, gap=8, even=True),
        d.Box("memory", [("memory, per element: ", words)], role="layer-2"),
        gap=20,
    )
    return d.joined(scene, *crossing)


def _path(line: str, way: str) -> tuple[str, str, str]:
    """Through which parts a line goes over the memory bus, and in which order."""
    core, memory = "core", "memory"
    return (core, line, memory) if way == "written" else (memory, line, core)


def _bus(line: str, way: str, role: str, there: bool) -> d.Box:
    """A line on the bus, or the place where it is not."""
    cells = d.Cells(
        f"{line}, {way}: its numbers",
        LINE,
        4,
        side=(13.0, 11.0),
        role=role,
        lit=frozenset(range(LINE)) if there else frozenset(),
        dark=frozenset() if there else frozenset(range(LINE)),
    )
    told = [line, d.line(way if there else "not fetched", bold=True)]
    return d.Box(f"{line}, {way}", told, cells, role=role if there else "muted")

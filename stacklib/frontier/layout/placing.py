"""Placement by simulated annealing: swap two cells, keep what helps.

Sites are those of an iCE40 HX8K: tiles of eight, in columns between two of memory, pads
at the rim, two a tile. A tile has one clock, one enable and one reset. The measure is
half the perimeter of each net's bounding box, in tiles, over all nets but those with
wires of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible

from .annealing import MODULUS, SITES, compiled, sweep
from .circuit import Netlist, circuit
from .packing import Together, pack

HOT = 2.0  # the first temperature, in what a random swap costs
SWAPS = 8.0  # a temperature, over blocks to the 4/3
COMPILED = 40.0  # blocks times effort from which compiling the loop pays
Site = tuple[int, int, int]


@dataclass(frozen=True)
class Floor:
    """Tiles of logic in columns, pads around them; by default an iCE40 HX8K."""

    columns: int = 32
    rows: int = 32
    memory: tuple[int, ...] = (8, 25)  # columns without logic

    def __post_init__(self) -> None:
        whole(columns=self.columns, rows=self.rows)
        if not isinstance(self.memory, tuple):
            raise ValueError(f"memory {self.memory!r}: a tuple of columns is needed")

    @cached_property
    def logic(self) -> tuple[int, ...]:
        """Columns with logic, from 1."""
        return tuple(x for x in range(1, self.columns + 1) if x not in self.memory)

    @property
    def sites(self) -> int:
        """Sites for logic."""
        return len(self.logic) * self.rows * SITES

    @cached_property
    def pads(self) -> tuple[Site, ...]:
        """Sites at the rim."""
        ends_x, ends_y = (0, self.columns + 1), (0, self.rows + 1)
        sides = [(x, y) for x in ends_x for y in range(1, self.rows + 1)]
        sides += [(x, y) for y in ends_y for x in self.logic]
        return tuple((x, y, z) for x, y in sides for z in (0, 1))


HX8K = Floor()


@dataclass(frozen=True)
class Placement:
    """Where each block stands.

    - ``sites``: column, row and place in the tile, of each block
    - ``start``: the wire length before annealing
    - ``moves``: swaps that were tried
    """

    packed: Together
    grid: Floor
    sites: tuple[Site, ...]
    start: int
    moves: int

    @cached_property
    def wire_length(self) -> int:
        """Sum over nets of half the perimeter of their bounding box, in tiles."""
        return sum(half_perimeter(self.sites, p) for p in self.packed.nets.values())

    @cached_property
    def at(self) -> dict[str, Site]:
        """The site of each cell."""
        pairs = zip(self.packed.blocks, self.sites, strict=True)
        return {cell.name: site for b, site in pairs for cell in b.cells}


def half_perimeter(sites: tuple[Site, ...] | list[Site], pins: tuple[int, ...]) -> int:
    """Half the perimeter of the box around so many blocks."""
    xs = [sites[p][0] for p in pins]
    ys = [sites[p][1] for p in pins]
    return max(xs) - min(xs) + max(ys) - min(ys)


def legal(placement: Placement) -> list[str]:
    """What is wrong with a placement; nothing when it can be built."""
    packed, grid, sites = placement.packed, placement.grid, placement.sites
    wrong = []
    seen: dict[Site, str] = {}
    tiles: dict[tuple[int, int], tuple[str, tuple[str, ...]]] = {}
    pads = set(grid.pads)
    for block, site in zip(packed.blocks, sites, strict=True):
        x, y, z = site
        inside = x in grid.logic and 1 <= y <= grid.rows and 0 <= z < SITES
        if not (site in pads if block.pad else inside):
            wrong.append(f"{block.name} stands at {site}, which is no site for it")
        if site in seen:
            wrong.append(f"{block.name} and {seen[site]} stand at {site}")
        seen[site] = block.name
        if block.controls:
            other, controls = tiles.setdefault((x, y), (block.name, block.controls))
            if controls != block.controls:
                wrong.append(
                    f"{block.name} and {other} in tile {(x, y)}: a tile has one clock, "
                    "one enable and one reset"
                )
    for chain in packed.chains:
        run = [(sites[b][0], sites[b][1] * SITES + sites[b][2]) for b in chain]
        x, first = run[0]
        if first % SITES or run != [(x, first + n) for n in range(len(chain))]:
            name = packed.blocks[chain[0]].name
            wrong.append(f"the chain of {name} does not stand in one column")
    return wrong


def place(
    netlist: Netlist, seed: int = 0, *, grid: Floor = HX8K, effort: float = 1.0
) -> Placement:
    """Place a netlist by simulated annealing.

    Parameters
    ----------
    netlist : Circuit, mapping or iterable of rows
        Rows of cell, kind, inputs and output, or the JSON that Yosys writes.
    seed : int
        Of the swaps; one seed gives one placement.
    grid : Floor, optional
        The tiles; those of an iCE40 HX8K.
    effort : float, optional
        Swaps tried, over the usual number; 0 leaves the start as it is. As many
        as usual take the serial MAC two seconds with numba, minutes without.

    Returns
    -------
    Placement
        Sites of all blocks, ``wire_length`` in tiles; ``legal`` proves it.

    Raises
    ------
    CircuitError
        For a netlist that is none: two drivers, no driver, or a loop, by name.
    Infeasible
        When the cells need more sites than the grid has.
    ValueError
        For a seed or an effort below zero, or a grid that is no ``Floor``.

    Notes
    -----
    The schedule is that of Betz and Rose, VPR (FPL 1997): the temperature falls fast
    where nearly all or hardly any swaps are kept.

    Examples
    --------
    >>> rows = [("i", "IN", "", "a"), ("g", "NOT", "a", "b"), ("o", "OUT", "b", "")]
    >>> legal(place(rows))
    []
    """
    whole(0, seed=seed)
    if isinstance(effort, bool) or not 0 <= effort <= 1000:
        raise ValueError(f"effort {effort!r}: 0 to 1000 times the usual swaps")
    if not isinstance(grid, Floor):
        raise ValueError(f"grid {grid!r}: a Floor(columns, rows) is needed")
    packed = pack(circuit(netlist))
    _fits(packed, grid)
    board = _Board(packed, grid)
    start = sum(half_perimeter(board.sites, p) for p in packed.nets.values())
    begun = tuple(board.sites)
    moves = board.anneal(effort, seed) if effort else 0
    placed = Placement(packed, grid, tuple(board.sites), start, moves)
    if placed.wire_length > start:  # few cells, and few swaps: the start was better
        return Placement(packed, grid, begun, start, moves)
    return placed


def _fits(packed: Together, grid: Floor) -> None:
    """Refuse what the grid cannot hold, with the sum."""
    pads = sum(b.pad for b in packed.blocks)
    logic = len(packed.blocks) - pads
    if logic > grid.sites or pads > len(grid.pads):
        raise Infeasible(
            f"{logic} cells and {pads} pads on {len(grid.logic)} x {grid.rows} tiles "
            f"of {SITES}: {grid.sites} sites and {len(grid.pads)} pads"
        )
    tall = max((-(-len(c) // SITES) for c in packed.chains), default=0)
    tiles = sum(-(-len(c) // SITES) for c in packed.chains)
    if tall > grid.rows or tiles > len(grid.logic) * grid.rows:
        raise Infeasible(
            f"chains of {tiles} tiles, the longest of {tall}; a column has {grid.rows}"
        )


class _Board:
    """Where blocks stand before and after the annealing."""

    def __init__(self, packed: Together, grid: Floor) -> None:
        self.packed, self.grid = packed, grid
        self.controls = [b.controls for b in packed.blocks]
        self.chained = {b: c for c, chain in enumerate(packed.chains) for b in chain}
        self.pads = [b.pad for b in packed.blocks]
        self.nets = list(packed.nets.values())
        self.of: list[list[int]] = [[] for _ in packed.blocks]
        for net, pins in enumerate(self.nets):
            for block in pins:
                self.of[block].append(net)
        self.sites: list[Site] = [(0, 0, 0)] * len(packed.blocks)
        self.on: dict[Site, int] = {}
        self.members: dict[tuple[int, int], set[int]] = {}
        self._begin()

    def _begin(self) -> None:
        """Chains, then registers by their controls, then the rest, from the rim."""
        tall = self.grid.rows
        tiles = sorted(
            ((x, y) for x in self.grid.logic for y in range(1, tall + 1)),
            key=lambda t: (2 * t[0] + abs(2 * t[1] - tall - 1), t),
        )
        for chain in self.packed.chains:
            high = -(-len(chain) // SITES)
            x, y = next(
                (x, y)
                for x, y in tiles
                if y + high <= tall + 1
                and not any((x, y + n) in self.members for n in range(high))
            )
            for n, block in enumerate(chain):
                self._put(block, (x, y + n // SITES, n % SITES))
        pads = sorted(self.grid.pads, key=lambda p: 2 * p[0] + abs(2 * p[1] - tall - 1))
        loose = [b for b in range(len(self.sites)) if b not in self.chained]
        loose.sort(key=lambda b: (not self.controls[b], self.controls[b]))
        for block in loose:
            free = iter(pads) if self.pads[block] else self._free(tiles, block)
            site = next((site for site in free if site not in self.on), None)
            if site is None:
                who = self.packed.blocks[block].name
                raise Infeasible(f"{who}: no tile is free or has its clock and reset")
            self._put(block, site)

    def _free(self, tiles: list[tuple[int, int]], block: int) -> Iterator[Site]:
        """Sites of tiles that a block may join, nearest the rim first."""
        for x, y in tiles:
            if self._agrees(block, (x, y)):
                yield from ((x, y, z) for z in range(SITES))

    def _agrees(self, block: int, tile: tuple[int, int]) -> bool:
        mine = self.controls[block]
        return not mine or all(
            self.controls[b] in ((), mine) for b in self.members.get(tile, ())
        )

    def _put(self, block: int, site: Site) -> None:
        self.sites[block] = site
        self.on[site] = block
        self.members.setdefault(site[:2], set()).add(block)

    def anneal(self, effort: float, seed: int) -> int:
        """Swap until nothing is gained; the number of swaps tried."""

        def joined(groups: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
            ends = [0, *accumulate(map(len, groups))]
            return ends, [i for g in groups for i in g] or [0]

        tall, wide, count = self.grid.rows + 2, self.grid.columns + 2, len(self.sites)
        x, y, z = map(list, zip(*self.sites, strict=True))
        occupant = [-2] * (tall * wide * SITES)
        tiles = [(i, j) for i in self.grid.logic for j in range(1, tall - 1)]
        every = [(i, j, k) for i, j in tiles for k in range(SITES)]
        for i, j, k in [*every, *self.grid.pads]:
            occupant[(i * tall + j) * SITES + k] = -1
        for block, (i, j, k) in enumerate(self.sites):
            occupant[(i * tall + j) * SITES + k] = block
        known: dict[tuple[str, ...], int] = {(): 0}
        controls = [known.setdefault(c, len(known)) for c in self.controls]
        chain_of = [self.chained.get(b, -1) for b in range(count)]
        nets = max(1, len(self.nets))
        cost = [half_perimeter(self.sites, p) for p in self.nets] or [0]
        sizes = (nets, count, count, count, nets, nets)
        fixed = [*joined(self.packed.chains), *joined(self.nets), *joined(self.of)]
        arrays: list[Any] = [x, y, z, occupant, controls, chain_of, *fixed, cost]
        arrays += [[0] * size for size in sizes]
        loop: Any = compiled() if effort * count > COMPILED else sweep
        if loop is not sweep:
            import numpy as np

            arrays = [np.array(array) for array in arrays]
        state, stamp = seed * 7919 % (MODULUS - 1) + 1, 0

        def swaps(number: int, heat: float, reach: float) -> tuple[int, float]:
            nonlocal state, stamp
            told = loop(number, heat, max(1, int(reach)), state, tall, *arrays, stamp)
            kept, state, stamp, squares = told
            return int(kept), float(squares)

        each = max(1, round(effort * SWAPS * count ** (4 / 3)))
        widest = max(self.grid.columns, self.grid.rows)
        reach = float(widest)
        kept, squares = swaps(count, math.inf, reach)
        heat, moves = HOT * (squares / max(1, kept)) ** 0.5, count
        while heat > 0.005 * sum(arrays[12]) / nets and heat > 0.001:
            kept, _ = swaps(each, heat, reach)
            moves += each
            share = kept / each
            heat *= 0.5 if share > 0.96 else 0.9 if share > 0.8 else 0.95
            reach = min(max(1.0, reach * (0.56 + share)), widest)
        swaps(each, 0.0, 1)
        self.sites = [
            (int(i), int(j), int(k)) for i, j, k in zip(*arrays[:3], strict=True)
        ]
        return moves + each

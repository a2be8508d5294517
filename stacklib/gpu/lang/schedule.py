"""The order of a program's rows, as a compiler would choose it.

A warp issues in order, so a load that stands beside its use makes it wait. Between two
branches, barriers or labels, rows are listed anew: of those whose operands are there,
the one goes first from which the longest way leads to the end (list scheduling: P.
Gibbons and S. Muchnick, *Efficient instruction scheduling for a pipelined
architecture*, 1986). Loads go ahead as far as registers allow.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from ..vm.program import OP

AHEAD = 8  # loads whose values nobody has used yet
# Cycles that stand for kinds where the longest way is sought; only their order counts.
LATENCY = {
    "load_global": 400,
    "atomic_global": 400,
    "load_local": 60,
    "load_shared": 30,
    "load_constant": 30,
    "atomic_shared": 30,
    "shuffle": 24,
    "special": 20,
    "fp64": 16,
}
_FIXED = {*range(OP["IF"], OP["CHECK"] + 1)} - {OP["SET"]}  # control, and checks
_STORES = ("STORE", "ATOMIC", "STORE_LOCAL")
_LOADS = ("LOAD", "LOAD_LOCAL")


def scheduled(rows: list[Any], starts: set[int], spaces: list[str]) -> list[Any]:
    """The rows of a program; ``starts``: places that something jumps to.

    ``spaces``: of each array: global, shared, ...
    """
    made: list[Any] = []
    block: list[Any] = []
    for at, row in enumerate(rows):
        if at in starts:
            made += listed(block, spaces)
            block = []
        if OP[row.op] in _FIXED or OP[row.op] >= OP["BARRIER"]:
            made += [*listed(block, spaces), row]
            block = []
        else:
            block.append(row)
    return made + listed(block, spaces)


def listed(block: list[Any], spaces: list[str]) -> list[Any]:
    """Rows without a branch among them, in a better order."""
    if sum(row.op in _LOADS for row in block) < 2:
        return block
    before, after = linked(block, spaces)
    ways = [0] * len(block)
    for n in range(len(block) - 1, -1, -1):
        own = LATENCY.get(block[n].kind, 4 if block[n].kind else 0)
        ways[n] = own + max((ways[m] for m in after[n]), default=0)
    return [block[n] for n in picked(block, before, after, ways)]


def linked(block: list[Any], spaces: list[str]) -> tuple[list[int], list[set[int]]]:
    """How many rows each must wait for, and which wait for it."""
    after: list[set[int]] = [set() for _ in block]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    stores: dict[str, int] = {}
    loads: dict[str, list[int]] = {}
    bounds: list[int] = []
    for n, row in enumerate(block):
        for reg in read(row):
            if reg in writer:
                after[writer[reg]].add(n)
            readers.setdefault(reg, []).append(n)
        for reg in written(row):
            for m in (*readers.pop(reg, ()), *([writer[reg]] if reg in writer else [])):
                after[m].add(n)
            writer[reg] = n
        if row.op == "BOUND":
            bounds.append(n)
        if row.op in _LOADS or row.op in _STORES:
            for m in bounds:
                after[m].add(n)
            bounds = []
            _in_memory(n, row, spaces, stores, loads, after)
    for n, later in enumerate(after):
        later.discard(n)
    before = [0] * len(block)
    for later in after:
        for m in later:
            before[m] += 1
    return before, after


def _in_memory(
    n: int,
    row: Any,
    spaces: list[str],
    stores: dict[str, int],
    loads: dict[str, list[int]],
    after: list[set[int]],
) -> None:
    """A load stays behind the store before it in the same space, and the reverse.

    It stays behind atomics of every space: compilers move no load over one.
    """
    array = row.imm // 16 if row.op == "ATOMIC" else row.imm
    space = spaces[array]
    for before in {space, "atomic"} & set(stores):
        after[stores[before]].add(n)
    if row.op == "ATOMIC":
        stores["atomic"] = n
    if row.op in _STORES:
        for m in loads.pop(space, ()):
            after[m].add(n)
        stores[space] = n
    else:
        loads.setdefault(space, []).append(n)


def read(row: Any) -> Iterator[int]:
    """Registers that a row reads."""
    memory = row.op in _LOADS or row.op in ("STORE", "STORE_LOCAL")
    wide = row.c if row.op == "STORE" and row.c > 0 else 1
    if row.a >= 0:
        yield row.a
    if row.b >= 0:
        yield from range(row.b, row.b + wide)
    if row.c >= 0 and not memory:
        yield row.c


def written(row: Any) -> range:
    """Registers that a row writes."""
    wide = row.c if row.op == "LOAD" and row.c > 0 else 1
    return range(row.dst, row.dst + wide) if row.dst >= 0 else range(0)


def picked(
    block: list[Any], before: list[int], after: list[set[int]], ways: list[int]
) -> list[int]:
    """The rows' new order."""
    ready: list[tuple[int, int]] = []
    held: list[tuple[int, int]] = []  # loads that would go too far ahead
    waiting: set[int] = set()  # loads that nobody has used yet
    users = {n: after[n] for n, row in enumerate(block) if row.op in _LOADS}
    order: list[int] = []
    for n, left in enumerate(before):
        if not left:
            heapq.heappush(ready, (-ways[n], n))
    while ready or held:
        if ready:
            way, n = heapq.heappop(ready)
            if n in users and len(waiting) >= AHEAD:
                heapq.heappush(held, (way, n))
                continue
        else:
            _, n = heapq.heappop(held)
        order.append(n)
        waiting -= {m for m in waiting if n in users[m]}
        if n in users:
            waiting.add(n)
        if len(waiting) < AHEAD:
            while held:
                heapq.heappush(ready, heapq.heappop(held))
        for m in after[n]:
            before[m] -= 1
            if not before[m]:
                heapq.heappush(ready, (-ways[m], m))
    return order

"""What to say when a kernel does what it may not: line, lane, address and value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lang.joined import PART
from ..vm import state as at
from ..vm.formats import FORMS
from ..vm.program import FIELDS, OP, OPS

if TYPE_CHECKING:
    from .machine import Machine

_A = FIELDS.index("a")
_ORDER = ": sync() orders lanes of a block, nothing orders blocks"
_FENCES = " but t.fence() and an atomic after it"
_ALIKE = "; if all store one value, t.store_relaxed(array, index, value) says so"


def line_of(machine: Machine, pc: int) -> int:
    """The source line of a row."""
    return int(machine.program.rows[pc, FIELDS.index("line")])


def whose(machine: Machine, warp: int, lane: int) -> str:
    """A thread by block, number and lane."""
    row = machine.tables["W"][warp]
    thread = 32 * int(row[at.LOCAL]) + lane
    return f"(block {int(row[at.BLOCK])}, thread {thread}, lane {lane})"


def fault(machine: Machine) -> str:
    """What the machine stopped at."""
    g = machine.tables["G"]
    code, pc, warp, lane = (
        int(g[n]) for n in (at.BAD, at.BAD_PC, at.BAD_WARP, at.BAD_LANE)
    )
    says = _WORDS[code](machine, pc, int(g[at.BAD_ONE]), int(g[at.BAD_TWO]))
    line = line_of(machine, pc)
    if pc in machine.program.lines and code != at.MISALIGNED:
        index = machine.tables["RR"][warp, machine.program.rows[pc, _A], lane]
        line = machine.program.lines[pc][int(g[at.BAD_ONE]) - int(index)]
    where = f"{machine.program.name}, line {line}: "
    return f"{where}{says} {whose(machine, warp, lane)}"


def place(machine: Machine, array: int, element: int) -> tuple[str, str]:
    """An element and its byte address."""
    use, row = machine.program.arrays[array], machine.tables["A"][array]
    first = use.base if use.space == "shared" else int(row[at.A_BASE])
    address = first + element * use.form.size
    index: list[int] = []
    for length in reversed(use.shape):
        index.insert(0, element % length)
        element //= length
    name = f"{use.name}[{', '.join(map(str, index))}]"
    return name, f"{use.space} address {address}"


def _outside(machine: Machine, pc: int, index: int, imm: int) -> str:
    array, axis, count = imm // 256, imm // 32 % 8, imm % 32
    use = machine.program.arrays[array]
    row = machine.tables["A"][array]
    first = use.base if use.space == "shared" else int(row[at.A_BASE])
    along = f" along axis {axis}" if len(use.shape) > 1 else ""
    if count > 1 and machine.program.rows[pc, FIELDS.index("form")] == PART:
        # Loads of single elements were joined: the first that lies outside is named.
        index, count = index if index < 0 else use.shape[axis], 1
    wide = f" ({count} neighbours)" if count > 1 else ""
    return (
        f"{use.name}[{index}]{wide} is outside its {use.shape[axis]} elements{along}: "
        f"{use.space} address {first + index * use.form.size}"
    )


def _unwritten(machine: Machine, pc: int, element: int, array: int) -> str:
    name, address = place(machine, array, element)
    adds = OPS[int(machine.program.rows[pc, 0])] == "ATOMIC"
    what = "is added to" if adds else "is read"
    return f"{name} {what}, and nobody has written it; {address}"


def under_way(machine: Machine, array: int, element: int) -> int:
    """The line of a copy to an element that nobody has waited for; 0 for none."""
    t = machine.tables
    if machine.program.arrays[array].space != "shared":
        return 0
    warp = t["W"][int(t["G"][at.BAD_WARP])]
    row = t["A"][array]
    own = row[at.A_SHADOW] + int(warp[at.SLOT]) * row[at.A_DIMS + 7] + element
    for copy in t["CP"][1 : t["CP"][0, 1] + 1]:
        first, count = int(copy[at.X_FIRST]), int(copy[at.X_COUNT])
        starts = [first]
        if machine.program.rows[int(copy[at.X_PC]), 0] == OP["COPY_ASYNC"]:
            lanes = [n for n in range(32) if int(copy[at.X_MASK]) >> n & 1]
            starts = [first + int(copy[at.X_ELEMENT + n]) for n in lanes]
        if copy[at.X_ARRAY] == array and any(s <= own < s + count for s in starts):
            return line_of(machine, int(copy[at.X_PC]))
    return 0


def _race(what: str) -> Any:
    def says(machine: Machine, pc: int, element: int, array: int) -> str:
        name, address = place(machine, array, element)
        line = under_way(machine, array, element)
        if line:
            does = "read" if "is read" in what else "written"
            return (
                f"{name} is {does}, and the copy of line {line} has not been waited "
                f"for; {address}"
            )
        hint = _ORDER + _FENCES * between_blocks(machine, array)
        writes = "is written" in what
        hint += _ALIKE * writes
        alike = one_value(machine, pc, element, array) if writes else ""
        return f"{name} {alike or what + hint}; {address}"

    return says


def between_blocks(machine: Machine, array: int) -> bool:
    """Whether blocks of this kernel pass values to each other."""
    uses = machine.program.uses
    space = machine.program.arrays[array].space
    return space == "global" and "ATOMIC" in uses


def one_value(machine: Machine, pc: int, element: int, array: int) -> str:
    """What to say where a request's lanes meet at an element with equal values."""
    g, row = machine.tables["G"], machine.program.rows[pc]
    warp = int(g[at.BAD_WARP])
    mask = int(machine.tables["W"][warp, at.MASK])
    index = machine.tables["RR"][warp, row[3]]
    form = FORMS[int(row[1])]
    held = machine.tables["FF" if form.floating else "RR"][warp, row[4]]
    lanes = [n for n in range(32) if mask >> n & 1 and index[n] == element]
    values = {held[n].item() for n in lanes}
    if len(lanes) < 2 or len(values) != 1:
        return ""
    value = held[lanes[0]].item()
    return (
        f"is stored by {len(lanes)} lanes at once; the values are equal ({value!r}), "
        f"so let one lane store it{_ALIKE}"
    )


def _not_all(machine: Machine, pc: int, number: int, _: int) -> str:
    op = OPS[int(machine.program.rows[pc, 0])]
    name = {"GRID_BARRIER": "grid_sync"}.get(op, "sync" if not number else "bar_sync")
    who = "the grid" if name == "grid_sync" else "a block"
    return f"{name}() is not reached by all threads of {who}; the first that is missing"


def _never_set(machine: Machine, pc: int, number: int, some: int) -> str:
    name = machine.program.names[number]
    if "[" in name:
        return f"{name} is read, and this lane has not written it"
    if some:
        return f"{name!r}: a value is used by a lane that never computed it"
    return f"{name!r} is read before anything is assigned"


def _bar(machine: Machine, number: int) -> str:
    return f"mbarrier {number + 1}"


_WORDS = {
    at.DIVIDES: lambda m, pc, one, two: (
        "a whole number has a negative exponent; raise a float"
        if OPS[int(m.program.rows[pc, 0])] == "POW"
        else "a whole number is divided by zero"
    ),
    at.OUTSIDE: _outside,
    at.UNWRITTEN: _unwritten,
    at.READ_RACE: _race("is read while another lane writes it"),
    at.WRITE_RACE: _race("is written while another lane uses it"),
    at.ATOMIC_RACE: _race("meets an atomic while another lane reads or writes it"),
    at.ASLEEP: lambda m, pc, one, two: "a shuffle reads a lane that is masked off",
    at.NOT_ALL: _not_all,
    at.NOT_ALL_OF_WARP: lambda m, pc, one, two: (
        "syncwarp() is not reached by all threads of a warp; the first that is missing"
    ),
    at.NEVER_SET: _never_set,
    at.ROUNDS_OUT: lambda m, pc, one, two: f"a loop of more than {one:,} rounds",
    at.MISALIGNED: lambda m, pc, array, address: (
        f"{m.program.arrays[array].name}: a wide access at address {address}, no "
        "multiple of its bytes"
    ),
    at.MB_INDEX: lambda m, pc, index, many: f"mbarrier [{index}] of a list of {many}",
    at.MB_TOO_MANY: lambda m, pc, number, count: (
        f"{_bar(m, number)}: an arrival more than the {count} that complete its phase, "
        "while bytes are still to come"
    ),
    at.MB_BYTES: lambda m, pc, number, size: (
        f"{_bar(m, number)} expects {size:,} bytes: 0 to {(1 << 20) - 1:,}"
    ),
    at.MB_TOO_MUCH: lambda m, pc, number, size: (
        f"{_bar(m, number)}: {size:,} bytes more have landed than were expected"
    ),
    at.MB_PARITY: lambda m, pc, number, phase: (
        f"{_bar(m, number)}.wait({phase}): a phase is named by its parity, 0 or 1"
    ),
    at.MANY_START: lambda m, pc, lanes, _: (
        f"{lanes} lanes start the same bulk copy; let one thread start it"
    ),
    at.NO_RANK: lambda m, pc, rank, size: f"block {rank} of a cluster of {size} blocks",
    at.NOT_BEGUN: lambda m, pc, rank, _: (
        f"shared memory of block {rank} of the cluster, which has not begun; "
        "t.cluster_sync() first"
    ),
    at.ENDED: lambda m, pc, rank, _: (
        f"shared memory of block {rank} of the cluster, which has ended; let its "
        "blocks wait at t.cluster_sync() before the end"
    ),
    at.NOT_ALL_OF_CLUSTER: lambda m, pc, one, two: (
        "cluster_sync() is not reached by all threads of a block; the first that is "
        "missing"
    ),
    at.NEGATIVE_BARRIER: lambda m, pc, one, two: (
        f"barrier {one}: a block has those from 0 to {at.NAMED - 1}"
    ),
}


# -- nobody goes on ---------------------------------------------------------------


def deadlock(machine: Machine) -> str:
    """Who waits for what, where nobody can go on."""
    told = [told_of(machine, row) for row in machine.tables["W"]]
    waits = list(dict.fromkeys(t for t in told if t))
    lines = "; ".join(waits[:6]) + ("; ..." if len(waits) > 6 else "")
    g = machine.tables["G"]
    later = machine.blocks - int(g[at.NEXT_BLOCK])
    if later:
        blocks = "1 block" if later == 1 else f"{later:,} blocks"
        lines += f"; {blocks} cannot begin before one of these ends"
    head = machine.program.name
    return f"{head}: a deadlock, nobody can go on: {lines}"


def told_of(machine: Machine, row: Any) -> str:
    """What one warp waits for."""
    if row[at.STATE] == at.DONE:
        return ""
    who = f"block {int(row[at.BLOCK])}, warp {int(row[at.LOCAL])}"
    if row[at.STATE] == at.READY:
        line = line_of(machine, int(row[at.PC]))
        return f"{who} goes round in line {line} and finds nothing changed"
    line = line_of(machine, int(row[at.WAITS_PC]))
    if row[at.STATE] == at.AT_GRID:
        return f"{who} waits at grid_sync() in line {line} for the other blocks"
    if row[at.STATE] == at.AT_CLUSTER:
        return (
            f"{who} waits at cluster_sync() in line {line} for {missing(machine, row)}"
        )
    if row[at.STATE] == at.AT_MBARRIER:
        return f"{who} waits in line {line} for {phases(machine, row)}"
    number = int(row[at.WAITS_FOR])
    bar = machine.tables["BAR"][int(row[at.SLOT]), number]
    name = f"barrier {number}" if number else "sync()"
    needed = int(bar[at.EXPECTED]) or int(
        machine.tables["B"][int(row[at.SLOT]), at.B_LIVE]
    )
    return (
        f"{who} waits at {name} in line {line}, where {int(bar[at.ARRIVED])} of "
        f"{needed} warps have come"
    )


def phases(machine: Machine, row: Any) -> str:
    """The phases of barriers that lanes of a warp wait for, and where those stand."""
    t = machine.tables
    me = int(row[at.SLOT]) * machine.width + int(row[at.LOCAL])
    held = t["MB"][int(t["G"][at.MB_WARPS]) + me]
    said = []
    for code in sorted({int(c) for c in held[:32] if c >= 0}):
        number, parity = code // 2, code % 2
        bar = t["MB"][int(row[at.SLOT]) * len(machine.program.mbarriers) + number]
        came = int(bar[at.M_COUNT] - bar[at.M_PENDING])
        size = int(bar[at.M_BYTES])
        bytes_left = f", {size:,} bytes are to come" if size > 0 else ""
        bytes_left += f", {-size:,} bytes came unexpected" if size < 0 else ""
        said.append(
            f"phase {parity} of mbarrier {number + 1}, in whose phase "
            f"{int(bar[at.M_PHASE])} {came} of {int(bar[at.M_COUNT])} have arrived"
            f"{bytes_left}"
        )
    return "; ".join(said)


def missing(machine: Machine, row: Any) -> str:
    """Blocks of a cluster that have not come to its barrier."""
    size = machine.program.cluster
    first = int(row[at.BLOCK]) // size * size
    warps = machine.tables["W"]
    came = {
        int(w[at.BLOCK]) for w in warps if w[at.STATE] == at.AT_CLUSTER and w[at.ALIVE]
    }
    said = [
        f"block {n}" + " (it has ended)" * _ended(machine, n)
        for n in range(first, first + size)
        if n not in came or _ended(machine, n)
    ]
    return ", ".join(said) or "warps of its own block"


def _ended(machine: Machine, block: int) -> bool:
    warps = machine.tables["W"]
    states = [int(w[at.STATE]) for w in warps if int(w[at.BLOCK]) == block]
    return bool(states) and all(state == at.DONE for state in states)

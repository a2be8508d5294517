"""Where the machine stands: columns of its tables, by name.

Every table is an array of whole numbers, so that the compiled loop can leave at any
instruction and go on from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# A warp.
(PC, MASK, ALIVE, DEPTH, STATE, WAITS_FOR, SLOT, LOCAL, BLOCK, NUMBER) = range(10)
(BARRIERS, REQUESTS, RECORD, FELL, SYNCED, BLOCK_SYNCED, GRID_SYNCED) = range(10, 17)
(FENCED, STEPS, SEEN_HASH, SEEN_VERSION, SEEN_AT, STUCK, LAUNCHED, WAITS_PC) = range(
    17, 25
)
TAKEN, CLUSTER_SYNCED, CLUSTER_SIZE = 25, 26, 27
WARP_COLUMNS = 28
READY, AT_BARRIER, DONE, AT_MBARRIER, AT_GRID, AT_CLUSTER = range(6)
# A frame of a warp's stack of masks.
KIND, CAME, OTHER, ROUNDS = range(4)
BRANCH, ROUND = 0, 1
# A barrier of a block: 0 is sync(), 1 to 15 have names.
ARRIVED, WAITING, WHO, EVENT, EXPECTED = range(5)
NAMED = 16
# A block that is resident.
B_NUMBER, B_LIVE, B_EVENT, B_RECORD = range(4)
# An array.
A_BASE, A_SIZE, A_FORM, A_SPACE, A_SHADOW, A_WATCHED, A_COUNT, A_STRIDE = range(8)
A_FRESH, A_DIMS = 8, 9
A_OPEN = A_DIMS + 8  # whether other blocks of the cluster reach it
A_COLUMNS = A_DIMS + 9
GLOBAL, SHARED, LOCAL_MEMORY, CONSTANT, BOX = range(5)
# A box that bulk copies move, in the table of arrays behind them: its shape is dims.
BOX_DST, BOX_SRC, BOX_RANK, _, BOX_BARRIERS = range(5)
SPACES = ("global", "shared", "local", "constant")
# What happened at an element.
WRITER, WRITTEN_AT, READER, READ_AT, ATOMIC_BY, ATOMIC_AT, WARPS_HERE = range(7)
TOUCHES = 7
NOBODY, COPYING = 0, -1  # the latter: a copy that is under way
THREAD, OF_WARP, OF_BLOCK, MANY = range(4)
# What a row did.
(C_WARPS, C_LANES, C_PARTED, C_REQUESTS, C_SECTORS, C_LINES, C_ASKED) = range(7)
C_PHASES, C_PASSES, C_BRANCHES = 7, 8, 9
COUNTERS = 10
# A request to memory.
R_ORDER, R_WARP, R_KIND, R_FIRST, R_COUNT, R_PC, R_TURNS = range(7)
REQUEST_COLUMNS = 7
# What a recorded warp issued.
(T_WARP, T_PC, T_MASK, T_REQUEST, T_PASSES, T_TURNS, T_ARRIVE, T_WAIT) = range(8)
TRACE_COLUMNS = 8
# The machine.
(SEQ, VERSION, NEXT_BLOCK, EVENTS, REQUESTS_MADE, SECTORS_MADE, TRACED) = range(7)
(BAD, BAD_PC, BAD_WARP, BAD_LANE, BAD_ONE, BAD_TWO, ISSUED, LIVE_GRID) = range(7, 15)
GRID_EVENT, SLICE, STRIDE, SKIPPED = 15, 16, 17, 19
PLAIN = 18  # only barriers of whole blocks put warps in order
MB_OF_BLOCK, MB_WARPS, CLUSTER, BOXES = range(20, 24)
TOGETHER = 24
MACHINE = 28
# A barrier in shared memory; behind these, what was done before it, and before those
# phases that are complete, by warp.
(M_COUNT, M_PENDING, M_BYTES, M_PHASE, M_EVENT, M_LAST, M_COPIES, M_WHO) = range(8)
M_CLOCK = 8
# A warp, in the same table: what each lane waits for, groups of copies it has made, the
# first of its copies, events of its groups, ranks of blocks it means.
V_WAITS, V_GROUPS, V_COPIES, V_EVENTS, V_RANKS = 0, 32, 64, 66, 130
V_COLUMNS, RING = 162, 64
# Copies that are under way; row 0: the first that is free, and how many were used.
X_NEXT, X_ME, X_PC, X_ARRAY, X_COUNT, X_FIRST, X_THREAD, X_MASK = range(8)
X_ELEMENT, X_GROUP = 8, 40
X_COLUMNS = 72
# Why the compiled loop came back.
FINISHED, FAILED, FULL, DEADLOCK, PAUSED = range(5)
# What is wrong.
(
    FINE,
    OVERFLOWS,
    DIVIDES,
    OUTSIDE,
    UNWRITTEN,
    READ_RACE,
    WRITE_RACE,
    ATOMIC_RACE,
    ASLEEP,
    NOT_ALL,
    NOT_ALL_OF_WARP,
    NEVER_SET,
    ROUNDS_OUT,
    MISALIGNED,
    NEGATIVE_BARRIER,
    GRID_DIVERGES,
    MB_INDEX,
    MB_TOO_MANY,
    MB_BYTES,
    MB_TOO_MUCH,
    MB_PARITY,
    MANY_START,
    NO_RANK,
    NOT_BEGUN,
    ENDED,
    NOT_ALL_OF_CLUSTER,
) = range(26)


class Tables(NamedTuple):
    """What a request to memory and a wait may need of a launch."""

    P: Any  # the program's rows
    W: Any  # warps
    B: Any  # blocks that are resident
    A: Any  # arrays
    M8: Any  # memory, as bytes, and the same as wider numbers and floats
    M16: Any
    M32: Any
    M64: Any
    MF: Any
    MD: Any
    H: Any  # who touched the elements that are watched
    L: Any  # which elements were written
    VC: Any  # how far each warp has seen each other
    LV: Any  # what values of atomics tell of that
    G: Any  # the machine
    C: Any  # what each row did
    Q: Any  # requests
    S: Any  # their sectors
    TR: Any  # what recorded warps issued
    E: Any  # how many arrive at each event
    scratch: Any
    FV: Any  # the same for floats
    MB: Any  # barriers in shared memory
    CP: Any  # copies under way
    width: int  # warps of a block
    threads: int


class Own(NamedTuple):
    """What else there is of each warp and block."""

    RR: Any  # registers, and the same as floats
    FF: Any
    ST: Any  # stacks of masks
    V: Any  # which lanes have given a name a value
    BAR: Any  # barriers of blocks
    LOC: Any  # threads' own arrays
    LOV: Any  # and which of their elements were set
    SP: Any  # registers that say who a thread is
    grid: Any
    dims: Any

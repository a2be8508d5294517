"""Where the machine stands: columns of its tables, by name.

Every table is an array of whole numbers, so that the compiled loop can leave at any
instruction and go on from there.
"""

from __future__ import annotations

# A warp.
(PC, MASK, ALIVE, DEPTH, STATE, WAITS_FOR, SLOT, LOCAL, BLOCK, NUMBER) = range(10)
(BARRIERS, REQUESTS, RECORD, FELL, SYNCED, BLOCK_SYNCED, GRID_SYNCED) = range(10, 17)
(FENCED, STEPS, SEEN_HASH, SEEN_VERSION, SEEN_AT, STUCK, LAUNCHED, WAITS_PC) = range(
    17, 25
)
TAKEN, GROUP = 25, 26
WARP_COLUMNS = 27
READY, AT_BARRIER, DONE, AT_MBARRIER, AT_GRID = range(5)
# A frame of a warp's stack of masks.
KIND, CAME, OTHER, ROUNDS = range(4)
BRANCH, ROUND = 0, 1
# A barrier of a block: 0 is sync(), 1 to 15 have names.
ARRIVED, WAITING, WHO, EVENT, EXPECTED = range(5)
NAMED = 16
# A block that is resident.
B_NUMBER, B_LIVE, B_FIRST, B_RECORD = range(4)
# An array.
A_BASE, A_SIZE, A_FORM, A_SPACE, A_SHADOW, A_WATCHED, A_COUNT, A_STRIDE = range(8)
A_FRESH, A_DIMS = 8, 9
A_COLUMNS = A_DIMS + 8
GLOBAL, SHARED, LOCAL_MEMORY, CONSTANT = range(4)
SPACES = ("global", "shared", "local", "constant")
# What happened at an element.
WRITER, WRITTEN_AT, READER, READ_AT, ATOMIC_BY, ATOMIC_AT = range(6)
NOBODY = 0
THREAD, OF_WARP, OF_BLOCK, MANY = range(4)
# What a row did.
(C_WARPS, C_LANES, C_PARTED, C_REQUESTS, C_SECTORS, C_LINES, C_ASKED) = range(7)
C_PHASES, C_PASSES, C_BRANCHES = 7, 8, 9
COUNTERS = 10
# A request to memory.
R_ORDER, R_WARP, R_KIND, R_FIRST, R_COUNT, R_PC = range(6)
REQUEST_COLUMNS = 6
# What a recorded warp issued.
(T_WARP, T_PC, T_MASK, T_REQUEST, T_PASSES, T_TURNS, T_ARRIVE, T_WAIT) = range(8)
TRACE_COLUMNS = 8
# The machine.
(SEQ, VERSION, NEXT_BLOCK, EVENTS, REQUESTS_MADE, SECTORS_MADE, TRACED) = range(7)
(BAD, BAD_PC, BAD_WARP, BAD_LANE, BAD_ONE, BAD_TWO, ISSUED, LIVE_GRID) = range(7, 15)
GRID_EVENT, SLICE, STRIDE = 15, 16, 17
PLAIN = 18  # only barriers of whole blocks put warps in order
MACHINE = 20
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
    NOT_LANDED,
) = range(17)
FAULTS = 17

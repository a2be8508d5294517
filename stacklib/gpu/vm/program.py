"""What a kernel is compiled to: instructions over the registers of a thread.

An instruction reads up to three registers and writes one. Control flow is structured:
every branch knows where its lanes meet again, so that a warp needs one program counter
and a stack of masks. What an instruction costs a GPU is its ``kind``, a name of
``issue.streams.KINDS``; bookkeeping that no GPU issues has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

# Arithmetic. The first block works on whole numbers, the second on floats.
_WHOLE = (
    "ADD SUB MUL DIV MOD AND OR XOR SHL SHR NEG INV ABS MIN MAX MAD POW CLZ FFS POPC"
)
_FLOAT = (
    "FADD FSUB FMUL FDIV FFLOOR FMOD FNEG FABS FMIN FMAX FMAD FMA FPOW "
    "EXP EXP2 LOG LOG2 SQRT RSQRT RCP SIN COS TANH FLOOR CEIL"
)
_MORE = "COMPARE FCOMPARE SELECT MOVE CONVERT NOT TEST"
_MARKS = "UNSET SET CHECK"
_LANES = "SHUFFLE VOTE MATCH REDUCE"
_MEMORY = "BOUND INDEX LOAD STORE ATOMIC LOAD_LOCAL STORE_LOCAL"
_CONTROL = "IF ELSE ENDIF LOOP WHILE NEXT JUMP ENDLOOP BREAK CONTINUE EXIT"
_SYNC = (
    "BARRIER WARP_BARRIER GRID_BARRIER CLUSTER_BARRIER FENCE COMMIT WAIT_GROUP "
    "MB_ARRIVE MB_EXPECT MB_WAIT MAP_RANK"
)
# Memory beyond the warp's own instruction: later, in boxes, of other blocks.
_FAR = "COPY_ASYNC BULK_COPY REMOTE_LOAD REMOTE_STORE REMOTE_ATOMIC"
OPS = " ".join(
    (_WHOLE, _FLOAT, _MORE, _CONTROL, _MARKS, _LANES, _MEMORY, "PAD", _SYNC, _FAR)
).split()
# What puts warps in an order besides a barrier of their block.
ORDERS = frozenset(f"{_SYNC} {_FAR}".split()) - {"BARRIER", "WARP_BARRIER"}
# What needs to be kept of warps that wait for copies, phases, other blocks.
WAITS = frozenset((_FAR + " COMMIT WAIT_GROUP MB_ARRIVE MB_EXPECT MB_WAIT").split())
OP = {name: number for number, name in enumerate(OPS)}
BARRIER_SPAN = 1 << 20  # of an instruction: first barrier, and so many times how many
FIELDS = ("op", "form", "dst", "a", "b", "c", "imm", "target", "kind", "line")


@dataclass(slots=True)
class Label:
    """A place in a program, known once it is laid out."""

    at: int = -1


@dataclass(slots=True, eq=False)
class Instruction:
    """One row of a program, before registers that are constants are numbered."""

    op: str
    form: int = 0
    dst: int = -1
    a: int = -1
    b: int = -1
    c: int = -1
    imm: int = 0
    target: Label | None = None
    kind: str = ""
    line: int = 0
    dead: bool = False
    spot: Any = None  # of a load: what is known of its index along each axis
    lines: tuple[int, ...] = ()  # of the loads that a load stands for


@dataclass(slots=True)
class ArrayUse:
    """An array that a program touches: where, of what, how large."""

    name: str
    space: str  # global, shared, local or constant
    form: Any
    shape: tuple[int, ...]
    values: Any = None  # of global memory
    written: bool = False
    base: int = 0  # bytes; of shared memory, within the block
    shadow: int = 0  # number of its first element among those that are watched
    open: bool = False  # whether other blocks of the cluster reach it
    registers: bool = False  # whether a thread's own array needs no memory
    home: Any = None  # the array on the device that it is


@dataclass(frozen=True, slots=True)
class Box:
    """A copy of a box of a tensor: from where, to where, of what shape."""

    dst: int  # numbers of arrays
    src: int
    shape: tuple[int, ...]
    barriers: int  # which mbarrier counts its bytes, see ``Mbarrier.which``


@dataclass(slots=True)
class Program:
    """A compiled kernel."""

    name: str
    file: str
    rows: Any  # (n, len(FIELDS)) int64
    kinds: list[str]  # of each row
    arrays: list[ArrayUse]
    registers: int
    constants: list[tuple[int, Any, bool]]  # register, value, whether a float
    specials: list[tuple[int, str]]  # register, what it holds: thread.x, block.y, ...
    shared_bytes: int
    local_words: int
    uses: frozenset[str] = field(default_factory=frozenset)  # names of OPS
    names: list[str] = field(default_factory=list)  # that a message may have to say
    mbarriers: list[int] = field(default_factory=list)  # arrivals of each
    boxes: list[Box] = field(default_factory=list)
    cluster: int = 1  # blocks that reach each other's shared memory
    lines: dict[int, tuple[int, ...]] = field(default_factory=dict)  # of joined loads

    def own(self) -> tuple[tuple[str, str, int], ...]:
        """Threads' own arrays: name, where they are, bytes a thread."""
        return tuple(
            (use.name, place, math.prod(use.shape) * use.form.size)
            for use in self.arrays
            if use.space == "local"
            for place in ["registers" if use.registers else "local memory"]
        )


@dataclass(frozen=True, slots=True)
class Place:
    """What a launch gives a kernel besides its arguments."""

    limit: int  # bytes of shared memory that a block may have
    dynamic: int = 0  # those of them that the launch gives
    cluster: int = 1  # blocks of a cluster
    capability: str = "9.0"  # of the device
    device: str = "this device"

    def older_than(self, capability: str) -> bool:
        """Whether the device lacks what came with a compute capability."""
        return _number(self.capability) < _number(capability)


def _number(capability: str) -> tuple[int, ...]:
    return tuple(int(part) for part in capability.split("."))

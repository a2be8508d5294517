"""SASS, the machine code of NVIDIA's GPUs: its instructions and their control bits.

An instruction has 128 bits since Volta. Beside opcode and operands it carries what the
compiler decided about time: how many cycles the warp waits behind it, which of six
barriers it arms, which it waits for. The hardware checks no register for hazards.
Bits: Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking" (2018), arXiv 1804.06826, section 2.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

BYTES = 16  # of an instruction
NO_BARRIER = 7

# Class -> how its opcodes begin. The first that fits holds.
CLASSES = {
    "tensor core": ("HMMA", "IMMA", "QMMA", "OMMA", "DMMA", "HGMMA", "UTC"),
    "global memory": ("LDG", "STG", "RED", "ATOMG", "LD.", "ST.", "UBLKCP", "UTMA"),
    "shared memory": ("LDS", "STS", "ATOMS"),
    "constants": ("LDC", "ULDC", "LDCU"),
    "barriers, shuffles": ("BAR", "SHFL", "BSSY", "BSYNC", "WARPSYNC", "SYNCS"),
    "branches": ("BRA", "EXIT", "RET", "CALL"),
    "compare, select": ("ISETP", "FSETP", "SEL", "FSEL", "PLOP3", "UISETP", "VOTE"),
    "fp32": ("FADD", "FMUL", "FFMA", "MUFU", "F2I", "I2F", "FCHK"),
    "fp16": ("HFMA2",),
    "integer, addresses": ("IMAD", "IADD", "UIADD", "LEA", "ULEA", "SHF", "USHF",
                           "LOP3", "ULOP3", "IABS", "UIMAD", "VIADD", "UMOV", "MOV",
                           "S2R", "S2UR", "CS2R", "R2UR", "PRMT", "USEL", "ISCADD"),
    "padding": ("NOP",),
}  # fmt: skip
# Their result comes after a time nobody knows in advance: a barrier must say when.
VARIABLE = (
    "LDG",
    "LDS",
    "LDC",
    "S2R",
    "S2UR",
    "SHFL",
    "MUFU",
    "F2I",
    "I2F",
    "ATOMG",
    "LDCU",
)


@dataclass(frozen=True, slots=True)
class Control:
    """What the compiler decided about time."""

    stall: int  # cycles before the warp may issue again, 0 to 15
    switch: bool  # whether the scheduler should rather turn to another warp
    arms_result: int | None  # barrier that opens when the result is written
    arms_operands: int | None  # when the operands were read
    waits: tuple[int, ...]  # barriers it waits for


@dataclass(frozen=True, slots=True)
class SassInstruction:
    """One machine instruction."""

    address: int  # bytes from the start
    line: int  # of the source, 0 where the compiler names none
    guard: str  # predicate in front, such as ``@!P0``; or empty
    opcode: str
    operands: str
    low: int
    high: int

    @property
    def text(self) -> str:
        """As a disassembler shows it."""
        return " ".join(
            part for part in (self.guard, self.opcode, self.operands) if part
        )

    @property
    def group(self) -> str:
        """The class it belongs to."""
        for name, heads in CLASSES.items():
            if self.opcode.startswith(heads):
                return name
        return "other"

    @property
    def writes(self) -> tuple[str, ...]:
        """General and uniform registers it writes."""
        if self.opcode.startswith(("ST", "BAR", "BRA", "EXIT", "RED", "ISETP")):
            return ()
        first = re.match(r"(U?R)(\d+)", self.operands)
        if first is None:
            return ()
        return _pair(first[1], int(first[2]), self._wide)

    @property
    def reads(self) -> tuple[str, ...]:
        """General and uniform registers it reads."""
        rest = self.operands if not self.writes else self.operands.partition(",")[2]
        found: list[str] = []
        for kind, number, wide in re.findall(r"\b(U?R)(\d+)(\.64)?", rest):
            found += _pair(kind, int(number), bool(wide))
        return tuple(dict.fromkeys(found))

    @property
    def _wide(self) -> bool:
        return ".64" in self.opcode or ".WIDE" in self.opcode

    @property
    def control(self) -> Control:
        """Bits 105 to 121 of the instruction."""
        bits = self.high >> 41
        result, operands = bits >> 5 & 7, bits >> 8 & 7
        return Control(
            bits & 15,
            not bits >> 4 & 1,
            None if result == NO_BARRIER else result,
            None if operands == NO_BARRIER else operands,
            tuple(k for k in range(6) if bits >> 11 + k & 1),
        )


def _pair(kind: str, number: int, wide: bool) -> tuple[str, ...]:
    return tuple(f"{kind}{n}" for n in range(number, number + 1 + wide))


@dataclass(frozen=True, slots=True)
class Sass:
    """Machine code of one kernel."""

    code: tuple[SassInstruction, ...]  # all of it, padding included
    labels: dict[str, int]  # name -> address

    @property
    def size(self) -> int:
        """Bytes."""
        return BYTES * len(self.code)

    @property
    def useful(self) -> tuple[SassInstruction, ...]:
        """Without what stands behind the end: a branch to itself, and padding."""
        own = next(
            (i for i, at in enumerate(self.code) if self._to_itself(at)), len(self.code)
        )
        return self.code[:own]

    def _to_itself(self, at: SassInstruction) -> bool:
        target = re.search(r"\.L_x_\d+", at.operands)
        return bool(
            at.opcode == "BRA"
            and not at.guard
            and target
            and self.labels.get(target[0]) == at.address
        )

    @property
    def registers(self) -> int:
        """General registers named, counted from the highest one."""
        named = {r for at in self.useful for r in (*at.reads, *at.writes)}
        return 1 + max((int(r[1:]) for r in named if r[0] == "R"), default=-1)

    def groups(self) -> Counter[str]:
        """Class -> how many useful instructions are of it."""
        return Counter(at.group for at in self.useful)

    def of_line(self, line: int) -> tuple[SassInstruction, ...]:
        """Useful instructions of a source ``line``, counted from 1."""
        return tuple(at for at in self.useful if at.line == line)


def read(rows: Iterable[str]) -> Sass:
    """Machine code from the recorded rows."""
    code: list[SassInstruction] = []
    labels: dict[str, int] = {}
    for row in rows:
        if row.endswith(":"):
            labels[row[:-1]] = BYTES * len(code)
            continue
        parts = row.split("|", 3)
        shape = re.match(r"(@\S+ +)?(\S+) *(.*)", parts[-1])
        if len(parts) != 4 or shape is None:
            raise ValueError(f"{row!r}: not 'line|low|high|text'")
        code.append(
            SassInstruction(
                BYTES * len(code),
                int(parts[0]),
                (shape[1] or "").strip(),
                shape[2],
                shape[3],
                int(parts[1], 16),
                int(parts[2], 16),
            )
        )
    return Sass(tuple(code), labels)


def unguarded(sass: Sass) -> tuple[str, ...]:
    """Results of unknown latency that are read before anybody waited for them.

    Follows the code in the order of its addresses. A result without a barrier of its
    own is covered by the next barrier that an instruction of the same kind arms: those
    come back in order. Empty for correct code.
    """
    faults = []
    pending: dict[str, tuple[str, int | None]] = {}  # register -> kind, barrier
    for at in sass.useful:
        control = at.control
        pending = {r: v for r, v in pending.items() if v[1] not in control.waits}
        faults += [
            f"{at.address:04x} {at.text}: {r} may not have come"
            for r in at.reads
            if r in pending
        ]
        for register in at.writes:
            pending.pop(register, None)
        if at.opcode.startswith(VARIABLE):
            kind = at.opcode.split(".")[0]
            own = control.arms_result
            pending |= {
                r: (k, own) for r, (k, b) in pending.items() if k == kind and b is None
            }
            pending |= dict.fromkeys(at.writes, (kind, own))
    return tuple(faults)


def spacing(sass: Sass) -> dict[str, int]:
    """Fewest cycles the compiler leaves between a result and its first use.

    By opcode of the producer, for those of known latency (whose result no barrier
    guards), within straight code: labels and branches begin anew.
    """
    found: dict[str, int] = {}
    written: dict[str, tuple[str, int]] = {}
    ends, now = set(sass.labels.values()), 0
    for at in sass.useful:
        if at.address in ends:
            written = {}
        for register in at.reads:
            if register in written:
                kind, then = written[register]
                found[kind] = min(found.get(kind, now - then), now - then)
        for register in at.writes:
            written.pop(register, None)
        if not at.opcode.startswith(VARIABLE) and not at.guard:
            kind = at.opcode.split(".")[0]
            written |= dict.fromkeys(at.writes, (kind, now))
        now += at.control.stall
    return found

"""What one PTX instruction does to one thread: registers, memory, the next address."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .ptx import Kernel, PtxError, PtxInstruction
from .ptx_values import (
    COMPARE,
    INTEGER,
    SINGLE,
    fma,
    signed,
    to_bits,
    to_float,
    width,
)

WARP = 32
Value = Callable[["Lane"], int]
Act = Callable[["Lane"], None]


@dataclass(slots=True)
class Memory:
    """One address space: byte arrays with gaps between, so that strays are caught."""

    name: str
    pieces: list[tuple[int, bytearray]] = field(default_factory=list)

    def at(self, address: int, size: int) -> tuple[bytearray, int]:
        """The piece that holds these bytes, and where in it."""
        if address % size:
            raise PtxError(f"{self.name} address {address:#x}: no multiple of {size}")
        for base, data in self.pieces:
            if base <= address and address + size <= base + len(data):
                return data, address - base
        raise PtxError(f"{self.name} address {address:#x}: outside every array")

    def load(self, address: int, size: int) -> int:
        """Little-endian bits."""
        data, at = self.at(address, size)
        return int.from_bytes(data[at : at + size], "little")

    def store(self, address: int, size: int, bits: int) -> None:
        """Little-endian bits."""
        data, at = self.at(address, size)
        data[at : at + size] = bits.to_bytes(size, "little")


@dataclass(slots=True)
class Lane:
    """One thread: its registers and where it is."""

    special: dict[str, int]
    shared: Memory
    pc: int = 0
    registers: dict[str, int] = field(default_factory=dict)
    executed: int = 0
    waits: bool = False
    done: bool = False


def place(kernel: Kernel, pc: int) -> str:
    """Where an instruction stands, for messages."""
    at: PtxInstruction = kernel.code[pc]
    return f"{kernel.name}, PTX line {at.line}, {at.text!r}"


def _extended(get: Value, size: int) -> Value:
    return lambda lane: signed(get(lane), size)


class Step:
    """One instruction, its operands looked up once."""

    def __init__(
        self, kernel: Kernel, at: int, params: dict[str, int], memory: Memory
    ) -> None:
        self.kernel, self.params, self.memory = kernel, params, memory
        self.code = kernel.code[at]
        self.parts = self.code.opcode.split(".")
        self.kind = self.parts[-1]
        self.guard, self.negated = self.code.guard, self.code.negated
        try:
            self.step = self._build()
        except PtxError as error:
            raise PtxError(f"{place(kernel, at)}: {error}") from None

    # -- issue -----------------------------------------------------------------

    def issue(self, lanes: list[Lane]) -> None:
        """Execute for these lanes of a warp, which are all here."""
        for lane in lanes:
            lane.executed += 1
            lane.pc += 1
        if self.guard:
            lanes = [
                one for one in lanes if self._read(one, self.guard) != self.negated
            ]
        if self.parts[0] == "shfl":
            self._shuffle(lanes)
            return
        step = self.step
        for lane in lanes:
            step(lane)

    def addresses(self, lanes: list[Lane]) -> list[int] | None:
        """Where these lanes will load or store; None for what reaches no array."""
        if self.parts[0] not in ("ld", "st") or self.parts[1] == "param":
            return None
        if self.guard:
            lanes = [
                one for one in lanes if self._read(one, self.guard) != self.negated
            ]
        at = self.address(self.code.operands[self.parts[0] == "ld"])
        return [at(lane) for lane in lanes]

    @staticmethod
    def _read(lane: Lane, name: str) -> int:
        try:
            return lane.registers[name]
        except KeyError:
            raise PtxError(f"{name} is read before it is written") from None

    def _shuffle(self, lanes: list[Lane]) -> None:
        target, value, by, clamp, mask = self.code.operands
        number = {lane.special["%laneid"]: lane for lane in lanes}
        read = {k: self.value(value, 32)(lane) for k, lane in number.items()}
        register, _, valid = target.partition("|")
        for k, lane in number.items():
            wanted = self.value(mask, 32)(lane)
            absent = [j for j in range(WARP) if wanted >> j & 1 and j not in read]
            if absent:
                raise PtxError(f"lanes {absent} of the mask are not here")
            delta, bound = self.value(by, 32)(lane), self.value(clamp, 32)(lane) & 31
            source = {
                "down": k + delta,
                "up": k - delta,
                "bfly": k ^ delta,
                "idx": delta,
            }[self.parts[2]]
            inside = source >= 0 if self.parts[2] == "up" else source <= bound
            lane.registers[register] = read[source if inside else k]
            if valid:
                lane.registers[valid] = int(inside)

    # -- operands --------------------------------------------------------------

    def value(self, text: str, size: int) -> Value:
        """A register, a special register, an immediate or an address."""
        mask = (1 << size) - 1
        if text.startswith("%") and ("." in text or text in ("%laneid", "%warpid")):
            return lambda lane: lane.special[text]
        if text.startswith("%"):
            return lambda lane: self._read(lane, text)
        if text in self.kernel.shared:
            place = self.kernel.shared[text]
            return lambda lane: place
        if re.fullmatch(r"0[fF][0-9A-Fa-f]{8}", text):
            bits = int(text[2:], 16)
            return lambda lane: bits
        if re.fullmatch(r"-?(0x[0-9A-Fa-f]+|\d+)U?", text):
            number = int(text.rstrip("U"), 0) & mask
            return lambda lane: number
        raise PtxError(f"operand {text!r} is not known")

    def address(self, text: str) -> Value:
        """``[base]`` or ``[base+bytes]``."""
        base, _, more = text.strip("[]").partition("+")
        start, offset = self.value(base, 64), int(more or 0)
        return lambda lane: start(lane) + offset

    def _numbers(self, texts: Sequence[str], kind: str) -> list[Value]:
        """Operands as numbers: sign-extended where the type is signed."""
        size = width(kind)
        raw = [self.value(text, size) for text in texts]
        if kind[0] != "s":
            return raw
        return [_extended(get, size) for get in raw]

    # -- instructions ----------------------------------------------------------

    def _build(self) -> Act:
        head = self.parts[0]
        if head in ("bra", "ret", "exit", "bar", "shfl"):
            return self._control(head)
        if head in ("ld", "st", "atom", "red"):
            return self._memory(head)
        into, *texts = self.code.operands
        compute = self._compute(head, texts)

        def step(lane: Lane) -> None:
            lane.registers[into] = compute(lane)

        return step

    def _control(self, head: str) -> Act:
        if head == "bra":
            if self.code.operands[0] not in self.kernel.labels:
                raise PtxError(f"there is no label {self.code.operands[0]}")
            target = self.kernel.labels[self.code.operands[0]]
            return lambda lane: setattr(lane, "pc", target)
        if head == "bar":
            if self.parts[1] != "sync" or self.code.operands != ("0",):
                raise PtxError("only bar.sync 0 is known")
            return lambda lane: setattr(lane, "waits", True)
        if head == "shfl":
            if self.parts[1] != "sync" or self.parts[2] not in (
                "down",
                "up",
                "bfly",
                "idx",
            ):
                raise PtxError("this shuffle is not known")
            return lambda lane: None
        return lambda lane: setattr(lane, "done", True)

    def _memory(self, head: str) -> Act:
        space, size = self.parts[1], width(self.kind) // 8
        if space == "param" and head == "ld":
            into, where = self.code.operands
            name = where.strip("[]")
            if name not in self.params:
                raise PtxError(f"there is no parameter {name}")
            bits = self.params[name]
            return lambda lane: lane.registers.__setitem__(into, bits)
        if space not in ("global", "shared"):
            raise PtxError(f"the address space of {self.code.opcode} is not known")
        memory = self.memory
        shared = space == "shared"
        if head == "ld":
            into, where = self.code.operands
            at = self.address(where)

            def load(lane: Lane) -> None:
                held = lane.shared if shared else memory
                lane.registers[into] = held.load(at(lane), size)

            return load
        if head == "st":
            where, text = self.code.operands
            at, value = self.address(where), self.value(text, 8 * size)

            def store(lane: Lane) -> None:
                (lane.shared if shared else memory).store(at(lane), size, value(lane))

            return store
        return self._atomic(head, shared, size)

    def _atomic(self, head: str, shared: bool, size: int) -> Act:
        if self.parts[2] != "add" or self.kind[0] not in "us":
            raise PtxError(f"{self.code.opcode} is not known; integer add is")
        *into, where, text = self.code.operands
        if len(into) != (head == "atom"):
            raise PtxError("atom returns what stood there, red returns nothing")
        at, value, memory = self.address(where), self.value(text, 8 * size), self.memory
        mask = (1 << 8 * size) - 1

        def add(lane: Lane) -> None:
            held = lane.shared if shared else memory
            before = held.load(at(lane), size)
            held.store(at(lane), size, before + value(lane) & mask)
            for name in into:
                lane.registers[name] = before

        return add

    def _compute(self, head: str, texts: Sequence[str]) -> Value:
        kind, parts = self.kind, self.parts
        size = width(kind)
        mask = (1 << size) - 1
        if head == "mov" or parts[:3] == ["cvta", "to", "global"]:
            return self.value(texts[0], size)
        if head == "setp" and len(parts) == 3 and parts[1] in COMPARE:
            return self._compare(texts, kind)
        if kind == "f32":
            return self._single(head, texts)
        given = self._numbers(texts, kind)
        if head == "cvt" and len(parts) == 3 and parts[2][0] in "su":
            into = (1 << width(parts[1])) - 1
            return lambda lane: given[0](lane) & into
        if head in ("not", "neg"):
            carry = int(head == "neg")  # -x is ~x + 1
            return lambda lane: ~given[0](lane) + carry & mask
        if head == "selp":
            first, other = given[:2]
            return lambda lane: (first if self._read(lane, texts[2]) else other)(lane)
        if head in ("mul", "mad") and parts[1] in ("lo", "wide"):
            wide = mask if parts[1] == "lo" else (1 << 2 * size) - 1
            if head == "mul":
                return lambda lane: given[0](lane) * given[1](lane) & wide
            c = self.value(texts[2], size if parts[1] == "lo" else 2 * size)
            return lambda lane: given[0](lane) * given[1](lane) + c(lane) & wide
        if head in INTEGER and head != "mul" and len(parts) == 2:
            operate = INTEGER[head]
            return lambda lane: operate(given[0](lane), given[1](lane)) & mask
        raise PtxError(f"{self.code.opcode} is not in the interpreter's subset")

    def _compare(self, texts: Sequence[str], kind: str) -> Value:
        test = COMPARE[self.parts[1]]
        a, b = self._numbers(texts, kind)
        if kind == "f32":
            return lambda lane: int(test(to_float(a(lane)), to_float(b(lane))))
        return lambda lane: int(test(a(lane), b(lane)))

    def _single(self, head: str, texts: Sequence[str]) -> Value:
        given = [self.value(text, 32) for text in texts]
        if self.parts[:2] == ["fma", "rn"] and len(self.parts) == 3:
            a, b, c = given
            return lambda lane: fma(a(lane), b(lane), c(lane))
        if head in SINGLE and self.parts[1:] in (["f32"], ["rn", "f32"]):
            operate, (a, b) = SINGLE[head], given
            # FP64 has more than twice the bits: rounding it again changes nothing
            return lambda lane: to_bits(operate(to_float(a(lane)), to_float(b(lane))))
        raise PtxError(f"{self.code.opcode} is not in the interpreter's subset")

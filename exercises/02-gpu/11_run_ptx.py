"""An interpreter for five PTX instructions.

level: build

Write the part of a GPU that a thread sees. `run(code, labels, registers)` executes one
thread from the first instruction to `ret`, changes `registers` in place, and returns
the number of instructions it issued.

Each element of `code` has `.opcode`, `.operands`, `.guard` and `.negated`: the first
two of `add.s32 %r1, %r2, -5;` are `"add.s32"` and `("%r1", "%r2", "-5")`. An operand is
a register or a whole number. `labels` maps a label to the index behind it.

- `mov.u32 d, a` and `add.s32 d, a, b` and `mul.lo.s32 d, a, b`: according to the
  specification a register keeps the low 32 bits, as a number from 0.
- `setp.lt.s32 p, a, b`: 1 in `p` where a < b as signed numbers, else 0.
- `bra label`; and `ret`, which counts too.

An instruction with a guard acts only where the guard's register is 1, or 0 if it is
`negated`. It is issued either way.

hint: Two's complement: from 2 to the 31st up, bits stand for a number 2 to the 32nd
less.
"""

from stacklib import gpu
from stacklib.gpu.code.ptx import parse
from stacklib.grading import expect

# ---- your answer ----


def run(code, labels, registers):
    """Instructions issued until `ret`; `registers` holds the results."""
    word = 1 << 32

    def read(operand):
        return registers[operand] if operand[0] == "%" else int(operand) % word

    def signed(bits):
        return bits - word if bits >= word // 2 else bits

    at = issued = 0
    while True:
        now = code[at]
        at += 1
        issued += 1
        if now.guard and registers[now.guard] == now.negated:
            continue
        head = now.opcode.split(".")[0]
        if head == "ret":
            return issued
        if head == "bra":
            at = labels[now.operands[0]]
            continue
        into, *given = now.operands
        values = [read(operand) for operand in given]
        if head == "mov":
            registers[into] = values[0]
        elif head == "add":
            registers[into] = sum(values) % word
        elif head == "mul":
            registers[into] = values[0] * values[1] % word
        else:
            registers[into] = int(signed(values[0]) < signed(values[1]))


# ---- tests ----

FRAME = """.visible .entry k()
{{
{}
    ret;
}}
"""
POWER = """    mov.u32 %r1, 1;
    mov.u32 %r2, 0;
$again:
    mul.lo.s32 %r1, %r1, 3;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, 40;
    @%p1 bra $again;"""
CLIMB = """    mov.u32 %r1, 0;
    mov.u32 %r2, -7;
$again:
    add.s32 %r1, %r1, 1;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, 4;
    @%p1 bra $again;"""
EITHER = """    mov.u32 %r1, 100;
    setp.lt.s32 %p1, 3, 2;
    @%p1 add.s32 %r1, %r1, 5;
    @!%p1 add.s32 %r1, %r1, 20;"""


def ran(body):
    kernel = parse(FRAME.format(body))
    registers = {}
    issued = run(kernel.code, kernel.labels, registers)
    if "%r1" not in registers:
        raise expect.Mistake("nothing was ever written to %r1: `registers` stays empty")
    return issued, registers["%r1"]


def counted(body):
    return gpu.run_ptx(FRAME.format(body), 1, 1).instructions


def test_registers_have_32_bits():
    expect.number(
        ran(POWER)[1],
        3**40 % 2**32,
        rel=1e-12,
        mistakes={"Registers have 32 bits: keep the low ones.": 3**40},
    )


def test_comparisons_are_signed():
    expect.number(
        ran(CLIMB)[1],
        11,
        rel=1e-12,
        mistakes={"setp.lt.s32 compares signed numbers.": 1},
    )


def test_guards():
    expect.number(
        ran(EITHER)[1],
        120,
        rel=1e-12,
        mistakes={
            "Both ran: a guard decides whether an instruction acts.": 125,
            "Neither acted; the negated guard holds where its register is 0.": 100,
        },
    )


def test_what_is_issued_counts():
    issued, right = ran(EITHER)[0], counted(EITHER)
    expect.number(
        issued,
        right,
        rel=1e-12,
        mistakes={
            "An instruction whose guard is false is issued all the same.": right - 1,
        },
    )
    issued, right = ran(POWER)[0], counted(POWER)
    expect.number(
        issued,
        right,
        rel=1e-12,
        mistakes={
            "The last branch, which is not taken, was issued too.": right - 1,
            "Branches are instructions.": right - 40,
        },
    )

# ---- match: a match on what stands there, and signs from the top bit
def run(code, labels, registers):
    def value(text):
        return registers[text] if text.startswith("%") else int(text) & 0xFFFFFFFF

    at, issued = 0, 0
    while True:
        now, at, issued = code[at], at + 1, issued + 1
        if now.guard and registers[now.guard] != (0 if now.negated else 1):
            continue
        match now.opcode, now.operands:
            case "ret", _:
                return issued
            case "bra", (label,):
                at = labels[label]
            case "mov.u32", (d, a):
                registers[d] = value(a)
            case "add.s32", (d, a, b):
                registers[d] = (value(a) + value(b)) & 0xFFFFFFFF
            case "mul.lo.s32", (d, a, b):
                registers[d] = (value(a) * value(b)) & 0xFFFFFFFF
            case "setp.lt.s32", (p, a, b):
                x, y = value(a) ^ 1 << 31, value(b) ^ 1 << 31
                registers[p] = 1 if x < y else 0


# ---- table: a table of operations, on NumPy's own 32 bits
import numpy as np


def bits(x):
    return np.array(int(x) % 2**32, dtype=np.uint32)


TABLE = {
    "mov": lambda a: a,
    "add": lambda a, b: bits(int(a) + int(b)),
    "mul": lambda a, b: bits(int(a) * int(b)),
    "setp": lambda a, b: int(a.view(np.int32) < b.view(np.int32)),
}


def run(code, labels, registers):
    def step(at):
        now = code[at]
        if now.guard and bool(registers[now.guard]) == now.negated:
            return at + 1
        name = now.opcode.partition(".")[0]
        if name == "bra":
            return labels[now.operands[0]]
        if name == "ret":
            return None
        into, *given = now.operands
        values = [bits(registers[g] if g in registers else g) for g in given]
        registers[into] = TABLE[name](*values)
        return at + 1

    at, count = 0, 0
    while at is not None:
        at, count = step(at), count + 1
    return np.int64(count)

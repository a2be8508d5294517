# ---- no_guard: Both ran: a guard decides whether an instruction acts.
def head_is_branch(now):
    return now.guard and now.opcode == "bra"


def run(code, labels, registers):
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
        if head_is_branch(now) and registers[now.guard] == now.negated:
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


# ---- no_wrap: Registers have 32 bits: keep the low ones.
def run(code, labels, registers):
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
            registers[into] = values[0] * values[1]
        else:
            registers[into] = int(signed(values[0]) < signed(values[1]))


# ---- not_negated: Neither acted; the negated guard holds
def run(code, labels, registers):
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
        if now.guard and not registers[now.guard] ^ now.negated ^ now.negated:
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


# ---- only_acting: An instruction whose guard is false is issued all the same.
def run(code, labels, registers):
    word = 1 << 32

    def read(operand):
        return registers[operand] if operand[0] == "%" else int(operand) % word

    def signed(bits):
        return bits - word if bits >= word // 2 else bits

    at = issued = 0
    while True:
        now = code[at]
        at += 1
        if now.guard and registers[now.guard] == now.negated:
            continue
        issued += 1
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


# ---- unsigned: setp.lt.s32 compares signed numbers.
def run(code, labels, registers):
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
            registers[into] = int(values[0] < values[1])

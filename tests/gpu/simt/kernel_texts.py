"""Random kernels as text: everything the language has, in every order.

Whole numbers that names keep stay small, loops end, indices stay inside; shared memory
is written by its owner and read by others only behind a barrier that all reach. Lanes
exchange only where it is plain who takes part: in no loop that some lanes leave early,
and under no branch inside a loop.
"""

import random

HELPERS = """
def pick(t, a, b, n):
    if a > b:
        return a - n
    for k in range(4):
        if k * n > a % 7:
            return b + k
        a = a + 1
    return a * 2 - b


def pair(t, a, b):
    low = a if a < b else b
    return low, a + b - low


def spread(cells, by):
    for k in range(len(cells)):
        cells[k] = (cells[k] + by * k) % 1009


def climb(t, a, n):
    if n == 0:
        return a % 11
    return climb(t, a + n, n - 1) + 1


def bump(own, k):
    own[k] = own[k] % 100 + 1
    return own[k]


def search(t, a, b):
    while True:
        if a % 5 == 0:
            return pick(t, a, b, 3), b
        b += 1
        if b % 4 == 3:
            break
        a -= 1
    for k in range(6, -1, -2):
        if k < a % 7:
            return a + k, pick(t, b, a, 1)
    return b, a


def hashed(t, a):
    h = t.to(np.uint32, a) * 2654435761
    h ^= h >> 13
    return t.to(np.int32, h >> 22)


def sevens(t, row, a):
    total = 0
    for k in range(3):
        for j in range(4):
            if j == a % 5:
                continue
            if row[k, j] > 900:
                return total
            total += row[k, j] % 7
    return total

"""
NUMBERS = (
    *("i", "x", "y", "acc[0]", "acc[1]", "acc[2]", "own[i % 5]", "own[2]", "3"),
    *("tile[0]", "tile[1]", "7", "grid[1][0]", "grid[0][1]", "plain[1]", "plain[0]"),
    *("box[i % 3, 1]", "box[2, x % 4]", "src[(x + 3) % 40]"),
)
VALUES = (
    *("{a} + {b}", "{a} - {b}", "({a} * {b}) % 97", "{a} // 3 + {b}", "{a} ^ {b}"),
    *("({a} if {a} < {b} else {b} + 1)", "max({a}, {b} - 4)", "abs({a} - {b})"),
    *("pick(t, {a}, {b}, 2)", "climb(t, {a}, 3)", "{a} + 2 * ({b} % 5)"),
    *("({a} << 1) & 127", "sum([{a}, {b}, 1])", "{a} % 5 - {b} // 2"),
    # Formats: wraps, shifts, roundings.
    *("t.to(np.int32, t.to(np.int8, {a} * 37)) + {b}", "hashed(t, {a} + {b})"),
    *("t.to(np.int32, t.to(np.uint8, {a} - {b}))", "({a} & 15) << ({b} & 7)"),
    "t.to(np.int32, t.to(np.int64, {a}) * 4294967311 % 1000003) % 1009",
    "t.to(np.int32, t.to(np.int16, {a} * 331) >> 3)",
    "t.to(np.int32, t.to(np.uint32, {a} - {b}) >> 3) % 997",
    "t.to(np.int32, (t.to(np.uint32, {a}) + 4294967290) & 1023)",
    "t.to(np.int32, t.to(np.uint64, {a}) % 13)",
    "t.to(np.int32, t.to(np.float16, {a} % 97) * t.to(np.float16, 0.3))",
    "t.to(np.int32, t.to(np.float16, {a}) + t.to(np.float16, 2047.0))",
    "t.to(np.int32, t.to(np.float32, {a}) * t.to(np.float32, 0.37))",
    "t.to(np.int32, t.to(np.float64, {a}) / 7.5)",
    't.to(np.int32, t.to(np.float32, t.to("bfloat16", {a})) + 1.0)',
    't.to(np.int32, t.to(np.float32, t.to("float8_e4m3fn", {a} % 300)))',
    't.to(np.int32, t.to(np.float32, t.to("float8_e5m2", {a})))',
    # Parts of expressions that only some lanes compute.
    "({a} if {a} > {b} and bump(own, 1) > 5 else {b})",
    "({a} if {a} % 2 else ({b} if {b} % 3 else pick(t, {b}, {a}, 1)))",
    "({a} - 1 if {b} > 3 or bump(plain, 0) % 2 else {b} // 2)",
    *("sevens(t, box, {a})", "search(t, {a}, {b})[0]", "t.popc({a} * 5 + {b})"),
    *(
        "min({a}, {b}, 40)",
        "~{a} & 63",
        "-{a} % 31",
        "{a} | ({b} & 6)",
        "+{a} ** 2 % 77",
    ),
    *("sum(t.load(src, 4 * (i % 10), 4)) + {a}", "t.load(src, 2 * (i % 20), 2)[1]"),
)
TESTS = (
    *("{a} > {b}", "{a} % 3 == 1", "1 <= {a} < 9", "{a} < {b} or {b} % 2"),
    *("{a} > 4 and src[i] > {b}", "not {a} % 2", "{a} != {b}", "i < 17"),
    *("{a} < {b} <= 40 != i", "not ({a} > 3 and {b} < 9)", "{a} & 1"),
    *("{a} > 2 and bump(own, 3) % 3", "0 < {a} % 7 < {b} % 7", "i >= 32 or {a} > 5"),
)
TARGETS = (
    *("x", "y", "acc[0]", "acc[1]", "acc[-1]", "own[i % 5]", "own[1]", "tile[1]"),
    *("grid[0][0]", "grid[1][1]", "plain[0]", "plain[1]", "box[x % 3, i % 4]"),
)
LANES = (
    *("t.shuffle_xor({a}, 1)", "t.shuffle({a}, {b} % 4, 4)", "t.shuffle_up({a}, 1)"),
    *("t.shuffle_down({a}, 2, 8)", "t.popc(t.ballot({a} > {b}))", "t.reduce_add({a})"),
    *("t.popc(t.match_any({a} % 4))", "t.reduce_max({a})", "t.popc(t.active_mask())"),
    *("({a} if t.any({a} > {b}) else {b})", "({a} if t.all({b} > 2) else 5)"),
)
MASKS = ("i % 32 < 8", "i < 16", "i % 8 < 4", "t.lane >= 8 and i < 32")
ATOMICS = (
    *("x = t.atomic_add(count, i, {a})", "x = t.atomic_max(count, i, {a})"),
    *("y = t.atomic_exch(count, i, {a})", "y = t.atomic_cas(count, i, {a}, {b})"),
    *("t.atomic_add(total, 0, {a})", "t.atomic_max(total, 1, {a})"),
    *("t.atomic_xor(total, 2, {a})", "t.atomic_or(total, 3, {a})"),
    *("t.atomic_min(total, 4, {a})", "t.atomic_sub(total, 5, {a})"),
    "t.atomic_inc(total, 6, 1000)",
)


class Writer:
    """Writes one kernel; ``deep``: how many branches and loops stand in one another."""

    def __init__(self, seed: int, deep: int) -> None:
        self.draw, self.deep = random.Random(seed), deep
        self.lines: list[str] = []
        self.loops = self.uneven = self.names = 0
        self.parted = 0  # branches and uneven loops inside a loop
        # A barrier must be reached by all: kernels have barriers or jumps.
        self.jumps = bool(seed % 2)

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def number(self) -> str:
        return self.draw.choice(NUMBERS)

    def made(self, forms: tuple[str, ...]) -> str:
        a, b = self.number(), self.number()
        return self.draw.choice(forms).format(a=a, b=b)

    def value(self) -> str:
        return f"({self.made(VALUES)}) % 1009"

    def test(self) -> str:
        return self.made(TESTS)

    def name(self) -> str:
        self.names += 1
        return f"k{self.names}"

    def plain(self, depth: int) -> None:
        kind = self.draw.randrange(16)
        if kind < 5:
            self.assignment(depth)
        elif kind == 5:
            self.add(depth, f"x, y = pair(t, {self.value()}, {self.value()})")
        elif kind == 6:
            self.add(depth, f"spread(acc, {self.number()})")
        elif kind == 7:
            self.add(depth, f"out[i] = out[i] + {self.value()}")
        elif kind < 10 and not self.uneven and not self.jumps:
            self.shared(depth)
        elif kind == 10 and not self.jumps and not self.parted:
            self.exchange(depth)
        elif kind == 11:
            self.add(depth, self.made(ATOMICS))
            self.add(depth, "x, y = x % 1009, y % 1009")
        elif kind == 12:
            self.add(depth, self.draw.choice(["x, y = y, x", "acc[0], x = x, acc[0]"]))
            self.add(depth, "grid[0][0], grid[1][0] = grid[1][0], grid[0][0]")
        elif kind == 13:
            a, b, c = (self.number() for _ in range(3))
            self.add(depth, f"t.store(wide, 4 * i, ({a}, {b}, {c}, i))")
            self.add(depth, f"acc[2] = wide[4 * i + {self.draw.randrange(4)}] % 1009")
        elif kind == 14:
            self.add(depth, f"x, y = search(t, {self.number()}, {self.number()})")
            self.add(depth, "x, y = x % 1009, y % 1009")
        else:
            cell = self.name()
            self.add(depth, f"for {cell} in range(3):")
            self.add(depth + 1, f"acc[{cell}] = acc[{cell}] % 50 + {cell}")

    def assignment(self, depth: int) -> None:
        target = self.draw.choice(TARGETS)
        self.add(depth, f"{target} = {self.value()}")
        if self.draw.random() < 0.4:
            op = self.draw.choice(["-=", "+=", "*=", "^=", "|=", "//=", "%=", ">>="])
            number = {"//=": "3", "%=": "17", ">>=": "2"}.get(op, self.number())
            self.add(depth, f"{target} {op} {number}")
            self.add(depth, f"{target} %= 1009")

    def shared(self, depth: int) -> None:
        sync = self.draw.choice(["t.sync()", "t.sync()", "t.bar_sync(3, 64)"])
        self.add(depth, "row[i] = " + self.value())
        self.add(depth, sync)
        self.add(depth, f"x = (x + row[(i + {self.draw.randrange(40)}) % 40]) % 1009")
        self.add(depth, sync)

    def exchange(self, depth: int) -> None:
        """Lanes tell each other something, some of them or all that are here."""
        shuffles = self.uneven or self.loops
        forms = LANES[4:] if shuffles else LANES
        if not shuffles and self.draw.random() < 0.5:
            # Sources stay among those lanes: parts of eight.
            self.add(depth, f"if {self.draw.choice(MASKS)}:")
            depth += 1
            forms = ("t.shuffle_xor({a}, 1, 4)", "t.shuffle({a}, {b}, 4)", *LANES[4:])
        elif not shuffles:
            forms = tuple(f for f in LANES if "shuffle_down" not in f)
        self.add(depth, f"x = ({self.made(forms)}) % 1009")

    def body(self, depth: int, room: int) -> None:
        for _ in range(self.draw.randint(1, 3)):
            self.statement(depth, room)
        if self.jumps and self.uneven and self.draw.random() < 0.2:
            jumps = ["return"] + ["break", "continue"] * (2 * bool(self.loops))
            self.add(depth, f"if {self.test()}:")
            self.add(depth + 1, self.draw.choice(jumps))

    def statement(self, depth: int, room: int) -> None:
        kind = self.draw.randrange(8) if room else 0
        if kind < 3:
            self.plain(depth)
        elif kind < 5:
            inside = bool(self.loops)
            self.uneven += 1
            self.parted += inside
            self.add(depth, f"if {self.test()}:")
            self.body(depth + 1, room - 1)
            if self.draw.random() < 0.3:
                self.add(depth, f"elif {self.test()}:")
                self.body(depth + 1, room - 1)
            if self.draw.random() < 0.6:
                self.add(depth, "else:")
                self.body(depth + 1, room - 1)
            self.uneven -= 1
            self.parted -= inside
        else:
            self.loop(depth, room)

    def loop(self, depth: int, room: int) -> None:
        name = self.name()
        ends = ["3", "i % 5", "2, i % 7", "5, 0, -2", "i % 6, -1, -1", "9, i % 4, -3"]
        ends = self.draw.choice(ends if self.loops else [*ends, "40", "1, 400, 37"])
        even = "i" not in ends
        parted = bool(self.loops) and not even
        self.uneven += not even
        jumps, self.loops = self.loops, self.loops + 1
        if self.draw.random() < 0.4:
            self.uneven += even
            self.parted += 1
            forever = self.jumps and self.draw.random() < 0.4
            self.add(depth, f"{name} = 0")
            test = "True" if forever else f"{name} < 4 and ({self.test()})"
            self.add(depth, f"while {test}:")
            self.add(depth + 1, f"{name} += 1")
            if forever:
                self.add(depth + 1, f"if {name} > 3 or ({self.test()}):")
                self.add(depth + 2, "break")
            self.body(depth + 1, room - 1)
            self.parted -= 1
            self.uneven -= even
        else:
            self.parted += parted
            self.add(depth, f"for {name} in range({ends}):")
            self.add(depth + 1, f"x = (x + {name}) % 1000")
            self.body(depth + 1, room - 1)
            self.parted -= parted
        self.loops = jumps
        self.uneven -= not even

    def text(self) -> str:
        for line in (
            "def kernel(t, src, out, count, total, wide):",
            "    i = t.thread.x",
            "    x = i",
            "    y = 3",
            "    acc = [0, i, 2]",
            "    grid = [[k + j for k in range(2)] for j in range(2)]",
            "    own = t.local(5, np.int32)",
            "    for k in range(5):",
            "        own[k] = k",
            "    plain = t.local(2, np.int32)",
            "    plain[0] = i % 3",
            "    plain[1] = 4",
            "    box = t.local((3, 4), np.int32)",
            "    for k in range(12):",
            "        box[k // 4, k % 4] = k * i % 50",
            "    row = t.shared(40, np.int32)",
            "    tile = [0 for _ in range(2)]",
        ):
            self.lines.append(line)
        for _ in range(self.draw.randint(3, 6)):
            self.statement(1, self.deep)
        self.add(1, "x = x + acc[0] - acc[1] + acc[2] + tile[1] + grid[0][0]")
        self.add(1, "x = x + grid[1][1] * 3 + own[1] - own[i % 5]")
        self.add(1, "x = x + plain[0] - plain[1] + box[i % 3, 2]")
        self.add(1, "out[i] = out[i] + x - y")
        return "import numpy as np\n" + HELPERS + "\n".join(self.lines) + "\n"

"""Random kernels as text: everything the language has, in every order.

Whole numbers stay small, loops end, indices stay inside; shared memory is written by
its owner and read by others only behind a barrier that all reach.
"""

from __future__ import annotations

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

"""


class Writer:
    """Writes one kernel; ``depth`` of branches and loops bounds its length."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.loops = self.uneven = self.names = 0
        # A barrier must be reached by all: kernels have barriers or jumps.
        self.jumps = bool(seed % 2)

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def number(self) -> str:
        return self.draw.choice(
            ["i", "x", "y", "acc[0]", "acc[1]", "acc[2]", "own[i % 5]", "own[2]", "3"]
            + ["tile[0]", "tile[1]", "7", "grid[1][0]", "grid[0][1]"]
        )

    def value(self) -> str:
        a, b = self.number(), self.number()
        form = self.draw.choice(
            [
                "{a} + {b}",
                "{a} - {b}",
                "({a} * {b}) % 97",
                "{a} // 3 + {b}",
                "{a} ^ {b}",
            ]
            + ["({a} if {a} < {b} else {b} + 1)", "max({a}, {b} - 4)", "abs({a} - {b})"]
            + ["pick(t, {a}, {b}, 2)", "climb(t, {a}, 3)", "{a} + 2 * ({b} % 5)"]
            + ["({a} << 1) & 127", "sum([{a}, {b}, 1])", "{a} % 5 - {b} // 2"]
        )
        return f"({form.format(a=a, b=b)}) % 1009"

    def test(self) -> str:
        a, b = self.number(), self.number()
        form = self.draw.choice(
            ["{a} > {b}", "{a} % 3 == 1", "1 <= {a} < 9", "{a} < {b} or {b} % 2"]
            + ["{a} > 4 and src[i] > {b}", "not {a} % 2", "{a} != {b}", "i < 17"]
        )
        return form.format(a=a, b=b)

    def target(self) -> str:
        return self.draw.choice(
            ["x", "y", "acc[0]", "acc[1]", "acc[-1]", "own[i % 5]", "own[1]", "tile[1]"]
            + ["grid[0][0]", "grid[1][1]"]
        )

    def plain(self, depth: int) -> None:
        kind = self.draw.randrange(10)
        if kind < 5:
            target = self.target()
            self.add(depth, f"{target} = {self.value()}")
            if self.draw.random() < 0.3:
                self.add(depth, f"{target} -= {self.number()}")
        elif kind == 5:
            self.add(depth, f"x, y = pair(t, {self.value()}, {self.value()})")
        elif kind == 6:
            self.add(depth, f"spread(acc, {self.number()})")
        elif kind == 7:
            self.add(depth, f"out[i] = out[i] + {self.value()}")
        elif kind == 8 and not self.uneven and not self.jumps:
            self.add(depth, "row[i] = " + self.value())
            self.add(depth, "t.sync()")
            self.add(
                depth, f"x = (x + row[(i + {self.draw.randrange(40)}) % 40]) % 1009"
            )
            self.add(depth, "t.sync()")
        else:
            cell = f"k{self.names}"
            self.names += 1
            self.add(depth, f"for {cell} in range(3):")
            self.add(depth + 1, f"acc[{cell}] = acc[{cell}] % 50 + {cell}")

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
            self.uneven += 1
            self.add(depth, f"if {self.test()}:")
            self.body(depth + 1, room - 1)
            if self.draw.random() < 0.6:
                self.add(depth, "else:")
                self.body(depth + 1, room - 1)
            self.uneven -= 1
        else:
            self.loop(depth, room)

    def loop(self, depth: int, room: int) -> None:
        name = f"k{self.names}"
        self.names += 1
        ends = ["3", "i % 5", "2, i % 7", "5, 0, -2"]
        ends = self.draw.choice(ends if self.loops else [*ends, "40", "1, 400, 37"])
        even = "i" not in ends
        self.uneven += not even
        jumps, self.loops = self.loops, self.loops + 1
        if self.draw.random() < 0.4:
            self.uneven += even
            self.add(depth, f"{name} = 0")
            self.add(depth, f"while {name} < 4 and ({self.test()}):")
            self.add(depth + 1, f"{name} += 1")
            self.body(depth + 1, room - 1)
            self.uneven -= even
        else:
            self.add(depth, f"for {name} in range({ends}):")
            self.add(depth + 1, f"x = (x + {name}) % 1000")
            self.body(depth + 1, room - 1)
        self.loops = jumps
        self.uneven -= not even

    def text(self) -> str:
        for line in (
            "def kernel(t, src, out):",
            "    i = t.thread.x",
            "    x = i",
            "    y = 3",
            "    acc = [0, i, 2]",
            "    grid = [[k + j for k in range(2)] for j in range(2)]",
            "    own = t.local(5, np.int32)",
            "    for k in range(5):",
            "        own[k] = k",
            "    row = t.shared(40, np.int32)",
            "    tile = [0 for _ in range(2)]",
        ):
            self.lines.append(line)
        for _ in range(self.draw.randint(3, 6)):
            self.statement(1, 3)
        self.add(1, "x = x + acc[0] - acc[1] + acc[2] + tile[1] + grid[0][0]")
        self.add(1, "x = x + grid[1][1] * 3 + own[1] - own[i % 5]")
        self.add(1, "out[i] = out[i] + x - y")
        return "import numpy as np\n" + HELPERS + "\n".join(self.lines) + "\n"

"""Random kernels as a stranger writes them: containers under masks, helpers, reuse."""

import random

from .stranger_helpers import HELPERS


class Stranger:
    """Writes one kernel of so many statements."""

    def __init__(self, seed, size=5, deep=3):
        self.r = random.Random(seed)
        self.size, self.deep = size, deep
        self.lines = []
        self.nest = []  # 'loop' / 'if'
        self.names = set()
        self.counters = []
        self.whiles = 0

    def one(self, *options):
        return self.r.choice(options)

    def add(self, depth, text):
        self.lines.append("    " * depth + text)

    def atom(self):
        r = self.r
        kinds = ["i", "x", "y", "z", str(r.randrange(-4, 9)), "i", "x", "y"]
        if "p" in self.have:
            kinds += ["p[0]", "p[1]"] * 2
        if "q" in self.have:
            kinds += ["q[0]", "q[-1]"]
        for u in "uv":
            if u in self.have:
                kinds += [f"{u}[{r.randrange(-3, 3)}]"] * 3
        if "d" in self.have:
            kinds += ["d['a']", "d['b']"] * 2
        if "w" in self.have:
            kinds += [f"w[{r.randrange(2)}][{r.randrange(2)}]"] * 2
        if "loc" in self.have:
            kinds += [f"loc[{r.randrange(3)}]", "loc[x % 3]"]
        kinds += self.counters
        return r.choice(kinds)

    def lists(self):
        return [u for u in "uv" if u in self.have]

    def expr(self, deep=2):
        r = self.r
        if deep == 0 or r.random() < 0.25:
            return self.atom()

        def e():
            return self.expr(deep - 1)

        k = r.randrange(32)
        L = self.lists()
        if k < 5:
            return f"({e()} {self.one('+', '-')} {e()})"
        if k == 30:
            return f"(({e()}, 2) if {self.test()} else (x, {e()}))[{r.randrange(2)}]"
        if k == 31:
            return f"divmod({e()}, {self.one('4', '-3', '7')})[{r.randrange(2)}]"
        if k == 5:
            return f"({e()} * {e()} % 97)"
        if k == 6:
            return f"({e()} // {self.one('3', '4', '-3', '7')})"
        if k == 7:
            return f"({e()} % {self.one('3', '4', '7', '-5')})"
        if k in (8, 9):
            return f"({e()} if {self.test()} else {e()})"
        if k == 10:
            return f"(({self.test()}) + {e()})"
        if k == 11:
            more = self.one("", ", " + self.atom())
            return f"{self.one('max', 'min')}({e()}, {e()}{more})"
        if k == 12:
            return f"abs({e()})"
        if k == 13:
            return f"({e()} {self.one('<<', '>>')} ({self.atom()} & 3))"
        if k == 14:
            return f"({e()} {self.one('&', '|', '^')} {e()})"
        if k == 15:
            return f"{self.one('~', '-', '+')}{self.atom()}"
        if k == 16:
            return f"two({e()}, {e()})[{r.randrange(2)}]"
        if k == 17:
            return f"early({e()}, {self.atom()} % 9)"
        if k == 18:
            return f"src[{self.atom()} % 32]"
        if k == 19:
            return f"rec({e()}, {r.randrange(3)})"
        if k == 20:
            return f"add({e()})" if "add" in self.have else self.atom()
        if L:
            u = r.choice(L)
            v = r.choice(L)
            if k == 21:
                return f"{self.one('sum', 'max', 'min', 'total')}({u})"
            if k == 22:
                return f"sum([a * b % 13 for a, b in zip({u}, {v})])"
            if k == 23:
                return f"sum(k * e for k, e in enumerate({u}))"
            if k == 24:
                return f"{u}[::-1][{r.randrange(3)}]"
            if k == 25:
                return f"list(reversed({u}))[0]"
            if k == 26:
                return self.one(f"bump({u})", f"some({u}, {e()}, {e()})")
            if k == 27:
                return f"first({u}, {e()})"
            if k == 28:
                return f"fill({u}, {e()})"
            if k == 29:
                return f"both({u}, {v})[{r.randrange(3)}]"
        return self.atom()

    def value(self, deep=2):
        e = self.expr(deep)
        plain = e.isidentifier() or e.lstrip("-").isdigit()
        return e if plain and self.r.random() < 0.8 else f"({e}) % 101"

    def test(self):
        r = self.r
        a, b = self.atom(), self.atom()
        L = self.lists()
        forms = [
            f"{a} > {b}",
            f"{a} % 2",
            f"{a} % 3 == 1",
            f"{a} < {b} <= {self.atom()}",
            f"not {a} % 2",
            f"{a} > 2 and {b} % 2",
            f"{a} < 5 or {b} > {self.atom()}",
            "i % 2",
            "i % 3 == 0",
            "i < 9",
            f"0 <= {a} < 32 and src[{a}] > 4",
            f"{a} != {b}",
            "i > 40",
            f"{a} == {b}",
            f"{a} {self.one('in', 'not in')} (1, {b}, 4)",
        ]
        if L:
            u = r.choice(L)
            forms += [
                f"any([{a} > e for e in {u}])",
                f"all([{a} > {b}, {u}[0] < 7])",
                f"{a} > 1 and bump({u}) % 2",
                f"{u}[0] > {u}[1]",
            ]
        return r.choice(forms)

    def fresh_list(self, n=3):
        r = self.r
        L = self.lists()
        forms = ["[" + ", ".join(self.expr(1) for _ in range(n)) + "]"]
        if n == 3:
            forms += [
                f"make({self.expr(1)}, {self.expr(1)})",
                f"[k + {self.atom()} for k in range(3)]",
                f"[{self.atom()}] * 3",
            ]
            for u in L:
                forms += [
                    f"{u}[::-1]",
                    f"[e + {self.atom()} for e in {u}]",
                    f"{u}[:]",
                    f"{u}[1:] + {u}[:1]",
                    f"list(reversed({u}))",
                    u,
                    f"[e for e in {u}]",
                    f"{u}.copy()",
                    f"list({u})",
                    f"both({u}, {self.r.choice(L)})",
                    f"[*{u}[:2], {self.atom()}]",
                ]
        return r.choice(forms)

    def assign(self, depth):
        r = self.r
        k = r.randrange(37)
        L = self.lists()
        if k < 5:
            self.add(depth, f"{self.one('x', 'y', 'z')} = {self.value()}")
        elif k == 34:
            self.add(depth, f"x, *r1 = {self.atom()}, y, z")
            self.add(depth, f"y = r1[{self.one('0', '-1')}]")
        elif k == 35:
            self.add(depth, f"f1 = lambda a, b={self.atom()}: (a + b - y) % 101")
            self.add(depth, f"y, x = {self.value(1)}, f1({self.atom()})")
            self.add(depth, f"z = f1(x{self.one('', ', 2')})")
        elif k == 36:
            self.add(depth, f"if (n1 := {self.value(1)}) > {self.atom()}:")
            self.add(depth + 1, f"{self.one('x', 'y')} = n1")
        elif k == 5:
            n = self.one("x", "y", "z")
            self.add(depth, f"{n} {self.one('+=', '-=', '^=', '|=')} {self.expr(1)}")
            self.add(depth, f"{n} %= 101")
        elif k == 6:
            self.add(
                depth,
                self.one(
                    "x, y = y, x",
                    "x, y = (y, x)",
                    "x, y, z = z, x, y",
                    "x = y = z",
                    "[x, y] = [y, x]",
                ),
            )
        elif k in (7, 8) and "p" in self.have:
            self.add(
                depth,
                self.one(
                    f"p = ({self.value(1)}, {self.value(1)})",
                    "p = p[::-1]",
                    "p = (p[1], p[0])",
                    f"p = two({self.atom()}, {self.atom()})",
                    "x, y = p",
                    "p = (x, y)",
                    "p = min(p[0], 50), p[1]",
                    f"p = (p[0], {self.value(1)})",
                    "p = tuple(p)",
                    "p = (y, p[0])",
                ),
            )
        elif k == 9 and "q" in self.have:
            self.add(
                depth,
                self.one(
                    "q = (x, *p)" if "p" in self.have else "q = (x, y, z)",
                    f"q = (q[2], q[0], {self.value(1)})",
                    "q = q[1:] + q[:1]",
                    "x, y, z = q",
                    "q = (*q[:2], x)",
                ),
            )
        elif k in (10, 11, 12) and L:
            u = r.choice(L)
            self.add(depth, f"{u}[{r.randrange(-1, 3)}] = {self.value()}")
        elif k in (13, 14) and L:
            u = r.choice(L)
            n = r.randrange(3)
            self.add(
                depth,
                f"{u}[{n}] {self.one('+=', '-=', '^=')} "
                + self.one("1", "5", self.atom()),
            )
            self.add(depth, f"{u}[{n}] %= 101")
        elif k == 15 and L:
            u = r.choice(L)
            v = r.choice(L)
            self.add(depth, f"{u}[0], {v}[1] = {v}[1], {u}[0]")
        elif k in (16, 17) and L:
            self.add(depth, f"{r.choice(L)} = {self.fresh_list()}")
        elif k == 18 and L:
            self.add(depth, f"{r.choice(L)}[:] = {self.fresh_list()}")
        elif k in (19, 20) and "d" in self.have:
            self.add(
                depth,
                self.one(
                    f"d['a'] = {self.value()}",
                    f"d['b'] = (d['b'] + {self.atom()}) % 101",
                    f"d = {{'a': {self.expr(1)}, 'b': x}}",
                    f"dset(d, {self.value()})",
                    "d['a'], d['b'] = d['b'], d['a']",
                ),
            )
        elif k in (21, 22) and "w" in self.have:
            self.add(
                depth,
                self.one(
                    f"w[0][1] = {self.value()}",
                    f"w[1][0] = (w[1][0] - {self.atom()}) % 101",
                    f"w[{r.randrange(2)}] = {self.fresh_list(2)}",
                    "w[0], w[1] = w[1], w[0]",
                    "w = [[1, x], [y, 2]]",
                    "w[0][0], w[1][1] = w[1][1], w[0][0]",
                    "w = [row[::-1] for row in w]",
                    "w = [list(c) for c in zip(*w)]",
                ),
            )
        elif k in (23, 24, 25) and L:
            u = r.choice(L)
            self.add(
                depth,
                self.one(
                    f"fill({u}, {self.value(1)})",
                    f"setc({u})",
                    f"setif({u}, {self.atom()})",
                    f"loopadd({u}, {self.atom()})",
                    f"swap({u}, {self.atom()})",
                    f"loopadd({u}, {r.randrange(4)}, by={self.atom()})",
                    f"x = fill({u}, {self.value(1)}) + y",
                    f"y = {u}[0] + bump({u})",
                ),
            )
        elif k in (26, 27):
            self.add(depth, f"out[i, {r.randrange(12)}] = {self.value()}")
        elif k == 28:
            self.add(depth, f"out[i, {r.randrange(12)}] += {self.value(1)}")
        elif k == 29 and "loc" in self.have:
            self.add(
                depth,
                self.one(
                    f"loc[{r.randrange(3)}] = {self.value()}",
                    f"loc[{self.atom()} % 3] = {self.value()}",
                    "loc[1] += 3",
                ),
            )
        elif k == 30 and self.nest:
            # a name made here
            n = "h" + str(r.randrange(2))
            self.add(depth, f"{n} = {self.value()}")
            self.add(depth, f"x = ({n} + x) % 101")
        elif k == 31 and self.nest and L:
            n = self.one("t1", "t2")
            self.add(depth, f"{n} = {self.fresh_list()}")
            self.add(depth, f"{n}[0] += {self.atom()}")
            self.add(depth, f"{self.one('x', 'y')} = ({n}[0] + {n}[1]) % 101")
        elif k == 32 and "add" in self.have:
            self.add(depth, f"x = add({self.value(1)}) % 101")
        elif k == 33 and L and self.r.random() < 0.5:
            self.add(depth, f"z = {r.choice(L)}[0]")
        else:
            self.add(depth, f"{self.one('x', 'y', 'z')} = {self.value()}")

    def block(self, depth, room):
        for _ in range(self.r.randint(1, 3)):
            self.statement(depth, room)
        if "loop" in self.nest and self.r.random() < 0.2:
            word = self.one("break", "continue")
            if self.nest[-1] == "if" and self.r.random() < 0.5:
                self.add(depth, word)
            else:
                self.add(depth, f"if {self.test()}:")
                self.add(depth + 1, word)
        elif self.nest and self.r.random() < 0.05:
            self.add(depth, f"if {self.test()}:")
            self.add(depth + 1, "return")

    def statement(self, depth, room):
        r = self.r
        k = r.randrange(10) if room else 0
        if k < 4:
            return self.assign(depth)
        if k < 7:
            self.nest.append("if")
            self.add(depth, f"if {self.test()}:")
            self.block(depth + 1, room - 1)
            if r.random() < 0.2:
                self.add(depth, f"elif {self.test()}:")
                self.block(depth + 1, room - 1)
            if r.random() < 0.4:
                self.add(depth, "else:")
                self.block(depth + 1, room - 1)
            self.nest.pop()
            return
        self.nest.append("loop")
        n = self.one("k1", "k2", "k3", "k1", "x")
        L = self.lists()
        forms = [
            "for {n} in range({a} % 5):",
            "for {n} in range({a} % 5):",
            "for {n} in range(3):",
            "for {n} in range(1, 7, 2):",
            "for {n} in range({a} % 4, {b} % 9, 2):",
            "for {n} in range({a} % 6, -1, -1):",
            "for {n} in range(24):",
            "for {n} in (1, 5, 2):",
        ]
        if L:
            forms += [
                "for {n} in {u}:",
                "for k1, {n} in enumerate({u}):",
                "for k2, {n} in zip({u}, {v}):",
                "for {n} in reversed({u}):",
            ]
        kept = list(self.counters)
        if r.random() < 0.3:
            self.whiles += 1
            c = f"c{self.whiles}"
            self.add(depth, f"{c} = {r.randrange(3)}")
            self.add(
                depth,
                self.one(
                    f"while {c} < {self.atom()} % 6:",
                    f"while {c} < 4 and ({self.test()}):",
                    f"while {c} < 4:",
                    "while True:",
                ),
            )
            forever = self.lines[-1].strip() == "while True:"
            self.add(depth + 1, f"{c} += 1")
            if forever:
                self.add(depth + 1, f"if {c} > 3 or {self.test()}:")
                self.add(depth + 2, "break")
            self.counters.append(c)
        else:
            text = r.choice(forms).format(
                n=n,
                a=self.atom(),
                b=self.atom(),
                u=r.choice(L) if L else "",
                v=r.choice(L) if L else "",
            )
            self.add(depth, text)
            self.counters.append(n)
        self.block(depth + 1, room - 1)
        if r.random() < 0.2:
            self.add(depth, "else:")
            self.add(depth + 1, f"{self.one('x', 'z')} = {self.value(1)}")
        if r.random() < 0.7:
            self.counters = kept
        self.nest.pop()

    def text(self):
        r = self.r
        self.have: set[str] = (
            {n for n in "pquvdw" if r.random() < 0.45}
            | ({"loc"} if r.random() < 0.2 else set())
            | ({"add"} if r.random() < 0.2 else set())
        )
        a = self.add
        a(0, "def kernel(t, src, out):")
        a(1, "i = t.thread.x")
        a(1, f"x = {self.one('i', '1', 'i * 3 % 7')}")
        a(1, "y = 3")
        a(1, f"z = {self.one('0', 'src[i]', 'i % 5')}")
        kept, self.have = self.have, set()
        init = {
            "p": "(0, i)",
            "q": "(x, 1, 2)",
            "u": self.one(
                "[1, i, 2]",
                "[0, 0, 0]",
                "[x, y, i]",
                "[0] * 3",
                "[k for k in range(3)]",
            ),
            "v": self.one("[i, 5, 3]", "[2, 2, 2]", "[k * i for k in range(3)]"),
            "d": "{'a': 1, 'b': i}",
            "w": self.one(
                "[[1, 2], [i, 4]]",
                "[[k + j for k in range(2)] for j in range(2)]",
                "[[0] * 2 for _ in range(2)]",
            ),
        }
        for n in "pquvdw":
            if n in kept:
                a(1, f"{n} = {init[n]}")
        if "loc" in kept:
            a(1, "loc = t.local(3, np.int32)")
            a(1, "for k in range(3):")
            a(2, "loc[k] = k")
        if "add" in kept:
            a(1, "def add(a, b=2):")
            a(
                2,
                self.one(
                    "return a + x * b % 7",
                    "return a + b",
                    "if a > 3:\n            return a - y\n        return b",
                ),
            )
        self.have = kept
        for _ in range(r.randint(2, self.size)):
            self.statement(1, self.deep)
        n = 0
        outs = ["x", "y", "z"]
        more = {
            "p": ["p[0]", "p[1]"],
            "q": ["q[0]", "q[2]"],
            "u": ["u[0]", "u[1]", "u[2]"],
            "v": ["v[0]", "v[1]", "v[-1]"],
            "d": ["d['a']", "d['b']"],
            "w": ["w[0][0]", "w[0][1]", "w[1][0]", "w[1][1]"],
        }
        for k in "pquvdw":
            if k in kept and r.random() < 0.75:
                outs += more[k]
        for e in outs:
            a(1, f"out[i, {12 + n}] = {e}")
            n += 1
        if self.counters and r.random() < 0.5:
            a(1, f"out[i, 11] = {self.counters[0]}")
        return "import numpy as np\n" + HELPERS + "\n\n" + "\n".join(self.lines) + "\n"

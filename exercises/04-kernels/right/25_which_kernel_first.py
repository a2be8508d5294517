# ---- quantities: units carried through
from stacklib.quantity import Quantity

ROWS = {
    "matmul": (55, 45, 30),
    "attention": (20, 4, 6),
    "norms": (15, 0.03, 15),
    "optimizer": (8, 0.01, 18),
    "dropout": (2, 0.001, 0.3),
}


def least(kernel):
    _, operations, moved = ROWS[kernel]
    computing = Quantity(operations, "TFLOP") / Quantity(1000, "TFLOP/s")
    moving = Quantity(moved, "GB") / Quantity(3, "TB/s")
    return max(computing, moving, key=lambda q: q.si)


def slowest():
    return max(ROWS, key=lambda k: ROWS[k][0] / least(k).to("ms").value)


def first():
    return max(ROWS, key=lambda k: ROWS[k][0] - least(k).to("ms").value)


def speedup():
    step = Quantity(100, "ms")
    return step / (step - Quantity(20, "ms") + least(first()))


def limit():
    return 100 / sum(least(k).to("ms").value for k in ROWS)


# ---- fractions: Amdahl's law with the kernel's own speedup
from fractions import Fraction

TIMES = {
    "matmul": (55, 45),
    "attention": (20, 4),
    "norms": (15, 5),
    "optimizer": (8, 6),
    "dropout": (2, Fraction(1, 10)),
}


def least(kernel):
    return Fraction(TIMES[kernel][1])


def slowest():
    return sorted(TIMES, key=lambda k: Fraction(TIMES[k][0]) / TIMES[k][1])[-1]


def first():
    return sorted(TIMES, key=lambda k: TIMES[k][0] - TIMES[k][1])[-1]


def speedup():
    now, new = TIMES[first()]
    share = Fraction(now, 100)
    return 1 / (1 - share + share / (Fraction(now) / new))


def limit():
    left = sum(Fraction(now, 100) * new / now for now, new in TIMES.values())
    return 1 / left

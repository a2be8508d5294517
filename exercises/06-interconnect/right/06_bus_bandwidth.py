# ---- table: factors by name, columns by zip
from fractions import Fraction

PARTS = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1, "alltoall": 1}


def factor(collective, ranks):
    share = 1 - Fraction(1, ranks)
    return float(PARTS[collective] * share) if collective in PARTS else 1


def rows(log):
    lines = [line.split() for line in log.split("\n") if line and "#" not in line]
    columns = list(zip(*lines, strict=True))
    return list(
        zip(
            map(int, columns[0]),
            map(float, columns[5]),
            map(float, columns[7]),
            strict=True,
        )
    )


# ---- tolerance: the first row that rounding does not explain
def changed(log, collective, ranks):
    for size, us, printed in rows(log):
        told = bus(size, us, collective, ranks)
        if abs(printed - told) > 0.01 + 0.01 * told:
            return size


def adds(log, collective, ranks, link):
    return link < max(bus(s, t, collective, ranks) for s, t, _ in rows(log))

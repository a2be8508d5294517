"""How many read, and how many write?

level: derive

Eight machines serve one model. A machine reads a prompt in `read` seconds and does
nothing else meanwhile. Or it writes: `seats` answers at once, each of which gets a
token in every step of `step` seconds, until it has `new` tokens.

- `split(machines, read, step, seats, new)`: how many machines should read, so that as
  many requests a second as possible are both read and written. At least one reads and
  at least one writes; where two splits do the same, fewer read.
- `rate(machines, read, step, seats, new)`: requests a second with that split.
- `pace(attention, mlp, crossing, batches)`: another split, inside every layer. One
  machine does the attention of a micro-batch in `attention` seconds, another its MLP
  in `mlp`; from either to the other it takes `crossing` seconds, in which both are
  free for another micro-batch. So many micro-batches, `batches`, are on their way.
  Seconds from one micro-batch to the next, once all are under way.

hint: The pool that is full first decides. For the last one, ask what a machine must do
for each micro-batch, and how long a micro-batch is away before it is back where it was.
"""

from stacklib.grading import expect
from stacklib.serving.pools import balance, turns

# ---- your answer ----


def rates(machines, read, step, seats, new):
    """Requests a second of each split."""
    write = new * step / seats
    return [min(n / read, (machines - n) / write) for n in range(1, machines)]


def split(machines, read, step, seats, new):
    """Machines that read."""
    found = rates(machines, read, step, seats, new)
    return 1 + found.index(max(found))


def rate(machines, read, step, seats, new):
    """Requests a second."""
    return max(rates(machines, read, step, seats, new))


def pace(attention, mlp, crossing, batches):
    """Seconds from one micro-batch to the next."""
    away = attention + mlp + 2 * crossing
    return max(attention, mlp, away / batches)


# ---- tests ----

CASES = [
    (8, 0.173, 0.0168, 64, 256),
    (8, 0.173, 0.0124, 12, 256),
    (8, 0.05, 0.02, 128, 1000),
    (12, 0.306, 0.09, 64, 400),
    (2, 0.1, 0.01, 8, 100),
    (5, 1.0, 0.25, 4, 16),
]


def most(case, how):
    """Number that read and the rate, with what may be wrong."""
    machines, read, step, seats, new = case
    each = seats / (step * new)
    best = (0, 0.0)
    for first in range(1, machines):
        both = first / read, (machines - first) * each
        got = {
            "min": balance.capacity(first, machines - first, 1, 1, 1 / read, each),
            "sum": sum(both),
            "one seat": min(both[0], both[1] / seats),
        }[how]
        if got > best[1]:
            best = first, got
    return best


SLIPS = {
    "A request needs both pools; their rates do not add up.": "sum",
    "A step writes a token for every seat, not for one.": "one seat",
}


def test_split():
    for case in CASES:
        right, got = most(case, "min")
        mine = expect.whole(split(*case))
        told = expect.read(rate(*case))
        if mine == right and abs(told - got) <= 1e-6 * got:
            continue
        for text, how in SLIPS.items():
            other = most(case, how)
            if (mine, round(told, 9)) == (other[0], round(other[1], 9)):
                raise expect.Mistake(text)
        if mine == right:
            raise expect.Mistake(f"{case}: {told:.4g} a second with {right}: not so")
        raise expect.Mistake(f"{case}: {mine} read; with {right} it is {got:.4g} a s")
    expect.reading("Of eight machines read", split(*CASES[0]))


TURNS = [
    {"attention": a, "mlp": m, "crossing": c, "batches": k}
    for a, m in ((38.9e-6, 80.4e-6), (115e-6, 163e-6), (10e-6, 10e-6))
    for c in (0.0, 5e-6, 60e-6)
    for k in (1, 2, 3)
]


def pace_of(crossing, attention, mlp, batches):
    return turns.pace(attention, mlp, crossing, batches)


def test_pace():
    expect.function_matches(
        pace,
        pace_of,
        TURNS,
        unit="s",
        rel=1e-6,
        mistakes={
            "A micro-batch crosses twice in each layer: there and back.": (
                lambda crossing, **rest: pace_of(crossing / 2, **rest)
            ),
            "Both sides work at once, on different micro-batches.": (
                lambda batches, **rest: pace_of(batches=1, **rest)
            ),
            "A micro-batch that is away too long leaves both sides idle.": (
                lambda attention, mlp, **rest: max(attention, mlp)
            ),
        },
    )
    expect.reading("a layer of 64, in us", f"{1e6 * pace(**TURNS[4]):.1f}")

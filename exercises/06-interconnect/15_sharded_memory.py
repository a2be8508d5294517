"""Memory and bytes of sharded training.

level: estimate
project: P6.3

Suppose Adam in mixed precision: a parameter takes 2 bytes for its weight, 2 for its
gradient, and 12 for the optimizer's state. `zero` is the stage: 0 data parallel, 1 the
state in parts, 2 gradients too, 3 weights too (FSDP). `shapes` lists the parameters'
shapes; each is cut along its first axis, as many rows each, the last ranks fewer.

- `held(shapes, ranks, zero)`: bytes that rank 0 holds. A part's rows are rounded up.
- `sent(parameters, ranks, zero)`: bytes that a rank sends in a step, by rings, one
  direction; here every axis divides.

hint: of which two collectives does an all-reduce consist, and what does a ring send for
each? Who has dropped its weights after the forward pass needs one of them again.
"""

from math import prod

from stacklib.grading import expect

# ---- your answer ----


def held(shapes, ranks, zero):
    """Bytes that rank 0 holds."""
    total = 0
    for shape in shapes:
        whole = prod(shape)
        part = -(-shape[0] // ranks) * prod(shape[1:])
        total += 2 * (part if zero >= 3 else whole)
        total += 2 * (part if zero >= 2 else whole)
        total += 12 * (part if zero >= 1 else whole)
    return total


def sent(parameters, ranks, zero):
    """Bytes that a rank sends in a step."""
    return 2 * parameters * (ranks - 1) / ranks * (3 if zero == 3 else 2)


# ---- tests ----

LISTS = {
    "even": [(64, 8), (32,), (128, 4)],
    "uneven": [(5, 3), (7,), (10, 2)],
    "one row": [(1, 9)],
}
CASES = [
    {"shapes": shapes, "ranks": ranks, "zero": zero}
    for shapes in LISTS.values()
    for ranks in (1, 2, 4, 8)
    for zero in (0, 1, 2, 3)
]


def counted(shapes, ranks, zero, rows=None, split=(3, 2, 1), sizes=(2, 2, 12)):
    """Row by row: rank 0 takes those of its part."""
    rows = rows or (lambda count: len(range(count)[: -(-count // ranks)]))
    total = 0
    for shape in shapes:
        each = prod(shape[1:])
        for size, stage in zip(sizes, split, strict=True):
            total += size * each * (rows(shape[0]) if zero >= stage else shape[0])
    return total


def test_held():
    expect.function_matches(
        held,
        counted,
        CASES,
        unit="B",
        rel=1e-9,
        mistakes={
            "Stages start with the state, then gradients, then weights.": (
                lambda shapes, ranks, zero: counted(
                    shapes, ranks, zero, split=(1, 2, 3)
                )
            ),
            "Rows are whole: rank 0 holds a part rounded up.": (
                lambda shapes, ranks, zero: counted(
                    shapes, ranks, zero, rows=lambda count: count / ranks
                )
            ),
            "The optimizer's state is missing.": lambda shapes, ranks, zero: counted(
                shapes, ranks, zero, sizes=(2, 2, 0)
            ),
        },
    )


def due(parameters, ranks, zero):
    """Sends of ring steps, added up one by one."""
    halves = 3 if zero == 3 else 2
    return sum(2 * parameters / ranks for _ in range(halves * (ranks - 1)))


def test_sent():
    expect.function_matches(
        sent,
        due,
        [
            {"parameters": p, "ranks": n, "zero": z}
            for p in (1024, 70_000_000_000)
            for n in (1, 2, 8, 64)
            for z in (0, 1, 2, 3)
        ],
        unit="B",
        rel=1e-9,
        mistakes={
            "Stages 1 and 2 send no more: the all-reduce in two halves.": (
                lambda parameters, ranks, zero: due(parameters, ranks, 3 * (zero > 0))
            ),
            "Stage 3 gathers weights twice: they were dropped in between.": (
                lambda parameters, ranks, zero: due(parameters, ranks, 0)
            ),
            "One part stays at home: a ring sends (n - 1) / n of the array.": (
                lambda parameters, ranks, zero: 2 * parameters * (2 + (zero == 3))
            ),
        },
    )

"""Which link of the chip is hot?

level: derive
project: P5.5

A chip has `k` x `k` cores in a mesh, each joined to its neighbours by a link in each
direction, without wrap-around. A message goes along its row to the column of its
destination, then along that column: first x, then y. A core is `(x, y)`, a message
`(start, end, bytes)`, a link a pair of neighbouring cores `(from, to)`.

- `loads(messages)`: a dictionary with the bytes over each link that is used.
- `hottest(messages)`: bytes over the link that carries most; 0 where none is used.
- `gather(k)`: bytes over the hottest link when every core but `(0, 0)` sends a byte to
  `(0, 0)`, such as partial sums of a product.
- `everyone(k)`: the same when every core sends a byte to every other one.

hint: For the last two count what crosses one link: which cores lie behind it, and where
may they be going? In a gather everything ends in column 0, so the last link of the
column carries whole rows. Between everyone, links in the middle are crossed most.
"""

from collections import Counter

from stacklib.grading import expect
from stacklib.interconnect.networks.packets import run_packets
from stacklib.interconnect.networks.shapes_torus import torus

# ---- your answer ----


def loads(messages):
    """Bytes over each link."""
    carried = Counter()
    for start, end, size in messages:
        x, y = start
        while (x, y) != end:
            step = x + (end[0] > x) - (end[0] < x)
            then = (step, y) if step != x else (x, y + (1 if end[1] > y else -1))
            carried[(x, y), then] += size
            x, y = then
    return dict(carried)


def hottest(messages):
    """Bytes over the link that carries most."""
    return max(loads(messages).values(), default=0)


def gather(k):
    """Bytes over the hottest link when all send to a corner."""
    return k * (k - 1)


def everyone(k):
    """Bytes over the hottest link when all send to all."""
    return k * (k // 2) * (k - k // 2)


# ---- tests ----


def walked(messages, first="x"):
    """Every message walked: its row first, or its column."""
    carried = Counter()
    for start, end, size in messages:
        at = list(start)
        for axis in (0, 1) if first == "x" else (1, 0):
            while at[axis] != end[axis]:
                here = tuple(at)
                at[axis] += 1 if end[axis] > at[axis] else -1
                carried[here, tuple(at)] += size
    return dict(carried)


def cores(k):
    return [(x, y) for x in range(k) for y in range(k)]


def all_pairs(k):
    return [(a, b, 1) for a in cores(k) for b in cores(k) if a != b]


def to_corner(k):
    return [(a, (0, 0), 1) for a in cores(k) if a != (0, 0)]


CASES = (
    [((0, 0), (2, 1), 5), ((1, 0), (2, 0), 7)],
    [((3, 3), (0, 0), 2), ((0, 0), (3, 3), 4), ((3, 0), (3, 3), 1)],
    to_corner(3),
    all_pairs(3),
)


def test_loads():
    for messages in CASES:
        found = loads(list(messages))
        if found is None:
            raise expect.Mistake("nothing came back: is a return missing?")
        found = {link: size for link, size in found.items() if size}
        right = walked(messages)
        if found == right:
            continue
        if found == walked(messages, "y"):
            raise expect.Mistake(
                "those are the links if messages went along columns first"
            )
        both = Counter()
        for (a, b), size in right.items():
            both[min(a, b), max(a, b)] += size
        if found == dict(both):
            raise expect.Mistake("a link carries one direction; the other has its own")
        if sum(found.values()) < sum(right.values()):
            raise expect.Mistake(
                "bytes are missing: every link on the way carries them all"
            )
        raise expect.Mistake("those are not the loads")
    expect.reading("messages that agree", sum(map(len, CASES)))


def test_hottest():
    expect.function_matches(
        hottest,
        lambda messages: max(walked(messages).values(), default=0),
        [{"messages": list(case)} for case in (*CASES, [])],
        unit="B",
        rel=1e-9,
        mistakes={
            "That is the sum over all links: one of them is the hottest.": (
                lambda messages: sum(walked(messages).values())
            ),
            "The largest message is not the hottest link: several may share one.": (
                lambda messages: max((m[2] for m in messages), default=0)
            ),
        },
    )


def test_gather():
    expect.function_matches(
        gather,
        lambda k: max(walked(to_corner(k)).values()),
        [{"k": k} for k in (2, 3, 4, 5, 8)],
        unit="B",
        rel=1e-9,
        mistakes={
            "Not all of them come by one link: the corner has two.": lambda k: (
                k * k - 1
            ),
            "That is the last link of the row; the column's carries whole rows.": (
                lambda k: k - 1
            ),
        },
    )


def test_everyone():
    expect.function_matches(
        everyone,
        lambda k: max(walked(all_pairs(k)).values()),
        [{"k": k} for k in (2, 3, 4, 5)],
        unit="B",
        rel=1e-9,
        mistakes={
            "That is the average link; those in the middle carry more.": lambda k: (
                sum(walked(all_pairs(k)).values()) / (4 * k * (k - 1))
            ),
            "Destinations beyond the link lie in every row: k times as many.": (
                lambda k: (k // 2) * (k - k // 2)
            ),
            "A link carries one direction.": lambda k: 2 * k * (k // 2) * (k - k // 2),
        },
    )
    ring = run_packets(torus((4, 4)), 1)
    expect.reading(
        "hottest link of a torus of 4 x 4, any shortest way", max(ring.loads.values())
    )

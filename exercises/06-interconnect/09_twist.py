"""A wrap that leads elsewhere.

level: build

Suppose a torus of X x Y x Z chips. A chip has a link to the next one up and the next
one down each axis; past the last chip of an axis the link goes round to its first. On a
twisted torus the wraps of x and of y also move along z, up or down, by `turn` chips
(modulo Z). Z is even and `turn` is zero or Z / 2, so up and down are the same. No
axis is shorter than 3.

- `far(shape, turn)`: a dictionary from each chip's place (x, y, z) to the number of
  links on the shortest way to it from (0, 0, 0).
- `messages(shape, turn)`: if every chip sends one message to every other one and all
  links carry alike, the messages that each link carries in one direction.
- `into_half(longest, rate)`: bandwidth into the other half for each chip of a plain
  torus, whose longest axis has `longest` chips (even); `rate` is a link, one direction.

hint: every chip sees the same torus, so one search from the origin is enough for all.
A cut across the longest axis goes through its middle and through its wraps.
"""

from collections import deque

from stacklib.grading import expect
from stacklib.interconnect import Topology

# ---- your answer ----


def near(place, shape, turn):
    """The six neighbours of a chip."""
    for axis in range(3):
        for step in (1, -1):
            at = list(place)
            at[axis] += step
            if axis < 2 and not 0 <= at[axis] < shape[axis]:
                at[2] += turn
            yield tuple(a % n for a, n in zip(at, shape, strict=True))


def far(shape, turn):
    """Links on the shortest way from the origin to each chip."""
    found = {(0, 0, 0): 0}
    order = deque(found)
    while order:
        at = order.popleft()
        for to in near(at, shape, turn):
            if to not in found:
                found[to] = found[at] + 1
                order.append(to)
    return found


def messages(shape, turn):
    """Messages over each link if all carry alike."""
    return sum(far(shape, turn).values()) / 6


def into_half(longest, rate):
    """Bandwidth of a chip into the other half."""
    return 4 * rate / longest


# ---- tests ----

SHAPES = (
    ((4, 4, 8), 0),
    ((4, 4, 8), 4),
    ((3, 5, 6), 0),
    ((3, 5, 6), 3),
    ((4, 8, 4), 0),
)


def places(shape):
    x, y, z = shape
    return [(a, b, c) for a in range(x) for b in range(y) for c in range(z)]


def of_package(shape, turn):
    twist = {"x": {"z": turn}, "y": {"z": turn}} if turn else None
    net = Topology.torus(shape, twist, link=1.0)
    return {p: net.routes(0, n).hops for n, p in enumerate(places(shape))}


RIGHT = {case: of_package(*case) for case in SHAPES}


def on_mesh(shape):
    """Without wraps."""
    return {p: sum(p) for p in places(shape)}


def on_plain(shape):
    """With wraps that do not move."""
    return {
        p: sum(min(a, n - a) for a, n in zip(p, shape, strict=True))
        for p in places(shape)
    }


def mine_of(case):
    shape, turn = case
    return expect.call(far, {"shape": shape, "turn": turn})


def test_far():
    for case in SHAPES:
        mine, right = mine_of(case), RIGHT[case]
        if mine == right:
            continue
        shape, turn = case
        if mine == on_mesh(shape):
            raise expect.Mistake("That has no wraps: a torus goes round.")
        if turn and mine == on_plain(shape):
            raise expect.Mistake("The wraps of x and y do not move along z yet.")
        if not isinstance(mine, dict) or set(mine) != set(right):
            raise expect.Mistake(f"{shape}: one entry a chip, by its place (x, y, z)")
        wrong = next(p for p in places(shape) if mine[p] != right[p])
        raise expect.Mistake(
            f"{shape}, turn {turn}: {mine[wrong]} links to {wrong} instead of "
            f"{right[wrong]}"
        )


def test_messages():
    def right(shape, turn):
        return sum(RIGHT[shape, turn].values()) / 6

    def chips(shape):
        return shape[0] * shape[1] * shape[2]

    expect.function_matches(
        messages,
        right,
        [{"shape": shape, "turn": turn} for shape, turn in SHAPES],
        rel=1e-9,
        mistakes={
            "Each chip has six links out, one for each direction of an axis: you "
            "count three.": lambda shape, turn: 2 * right(shape, turn),
            "That is the mean number of links on the way of a message.": (
                lambda shape, turn: 6 * right(shape, turn) / (chips(shape) - 1)
            ),
            "That is the sum over all chips' messages, of a single chip's links.": (
                lambda shape, turn: right(shape, turn) * chips(shape)
            ),
        },
    )
    value = expect.call(messages, {"shape": (4, 4, 8), "turn": 4})
    expect.reading("messages over a link of the twisted 4 x 4 x 8", value)


def test_into_half():
    expect.function_matches(
        into_half,
        lambda longest, rate: 4 * rate / longest,
        [
            {"longest": 24, "rate": 100e9},
            {"longest": 16, "rate": 50e9},
            {"longest": 8, "rate": 45e9},
        ],
        rel=1e-9,
        mistakes={
            "The wraps cross the cut as well: two links for each row.": (
                lambda longest, rate: 2 * rate / longest
            ),
            "Half of the chips share the cut, and you divided it once more.": (
                lambda longest, rate: rate / longest
            ),
            "One direction is asked; that is both.": (
                lambda longest, rate: 8 * rate / longest
            ),
        },
    )

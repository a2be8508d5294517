"""What no schedule can beat.

level: derive

Chips are joined by cables, each of which carries one chunk in a step, in each
direction. Every chip's array is cut into `chunks` chunks; at the end of an all-reduce
each chip holds the sum of every chunk. Chips add and copy; there are no switches.

`board` is a list of pairs `(a, b)`, one for each cable; chips are numbered from 0.
Every chip can be reached. There may be several cables between the same two.

- `far(board)`: steps between the two chips that are farthest apart, a lower bound on
  the steps of any all-reduce.
- `sends(board, chunks)`: steps by counting sends. The sum of one chunk takes a number
  of sends that depends on the chips alone, whatever the schedule; all of them have to
  go over the cables.
- `port(board, chunks)`: steps by the chip with the fewest cables, the best such bound
  over all chips. Of each chunk something must leave a chip, early enough to get to the
  chip farthest from it.

hint: Put the sends of one chunk in a row. How many must there be before any chip can
know the whole sum? How many more chips have to learn it? For `port`: a chunk that
leaves in the last step reaches a neighbour and nobody else.
"""

from collections import deque

from stacklib.grading import expect
from stacklib.quantity import chosen

# ---- your answer ----


def steps_from(board, start):
    """Steps from a chip to each other."""
    found, todo = {start: 0}, deque([start])
    while todo:
        one = todo.popleft()
        for pair in board:
            if one in pair:
                other = sum(pair) - one
                if other not in found:
                    found[other] = found[one] + 1
                    todo.append(other)
    return found


def far(board):
    """Steps between the chips that are farthest apart."""
    chips = {chip for pair in board for chip in pair}
    return max(max(steps_from(board, chip).values()) for chip in chips)


def sends(board, chunks):
    """Steps by the number of sends."""
    chips = {chip for pair in board for chip in pair}
    needed = 2 * (len(chips) - 1) * chunks
    return -(-needed // (2 * len(board)))


def port(board, chunks):
    """Steps by the cables of a chip."""
    found = []
    for chip in {chip for pair in board for chip in pair}:
        cables = sum(chip in pair for pair in board)
        last = max(steps_from(board, chip).values())
        found.append(-(-chunks // cables) + last - 1)
    return max(found)


# ---- tests ----

CUBE = [(0, 1), (0, 2), (0, 3), (0, 3), (0, 4), (0, 4), (1, 2), (1, 2), (1, 3), (1, 5)]
CUBE += [(1, 5), (2, 3), (2, 3), (2, 6), (3, 7), (4, 5), (4, 6), (4, 7), (4, 7), (5, 6)]
CUBE += [(5, 6), (5, 7), (6, 7), (6, 7)]
BOARDS = {
    "two chips": [(0, 1)],
    "a row of five": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "a ring of eight": [(at, (at + 1) % 8) for at in range(8)],
    "a star of six": [(0, at) for at in range(1, 6)],
    "a mesh of five": [(a, b) for a in range(5) for b in range(a)],
    "a cube": [(a, a ^ bit) for a in range(8) for bit in (1, 2, 4) if not a & bit],
    "a DGX-1": CUBE,
    "a kite": [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 4)],
}
COUNTS = (1, 3, 8, 16)


def spans(board):
    """Steps from each chip to the farthest, by growing sets."""
    chips = {chip for pair in board for chip in pair}
    found = {}
    for start in chips:
        known, steps = {start}, 0
        while known != chips:
            known |= {c for pair in board if known & set(pair) for c in pair}
            steps += 1
        found[start] = steps
    return found


def up(a, b):
    return -(-a // b)


def chips_of(board):
    return len({chip for pair in board for chip in pair})


def cables_of(board):
    return {
        chip: sum(chip in pair for pair in board)
        for chip in {chip for pair in board for chip in pair}
    }


def least_port(board, chunks, before=-1, count=up):
    last = spans(board)
    return max(
        count(chunks, cables) + last[chip] + before
        for chip, cables in cables_of(board).items()
    )


def test_far():
    expect.function_matches(
        far,
        lambda board: max(spans(board).values()),
        [{"board": board} for board in BOARDS.values()],
        rel=1e-9,
        mistakes={
            "You counted the chips on the way, and not the steps between them.": (
                lambda board: max(spans(board).values()) + 1
            ),
            "That is how far the others are from chip 0; another may be farther from "
            "somebody.": lambda board: spans(board)[0],
        },
    )


def both():
    return [{"board": b, "chunks": c} for b in BOARDS.values() for c in COUNTS]


def test_sends():
    expect.function_matches(
        sends,
        lambda board, chunks: up(2 * (chips_of(board) - 1) * chunks, 2 * len(board)),
        both(),
        rel=1e-9,
        mistakes={
            "A cable carries a chunk in each direction.": (
                lambda board, chunks: up(2 * (chips_of(board) - 1) * chunks, len(board))
            ),
            "You counted the sends that bring a sum together. It has to come to all "
            "others, too.": (
                lambda board, chunks: up((chips_of(board) - 1) * chunks, 2 * len(board))
            ),
            "Chips can add: not everybody's contribution has to come to everybody by "
            "itself.": (
                lambda board, chunks: up(
                    chips_of(board) * (chips_of(board) - 1) * chunks, 2 * len(board)
                )
            ),
            "Steps are whole: what does not fit in one takes another.": (
                lambda board, chunks: (
                    2 * (chips_of(board) - 1) * chunks // (2 * len(board))
                )
            ),
        },
    )


def test_port():
    expect.function_matches(
        port,
        least_port,
        both(),
        rel=1e-9,
        mistakes={
            "The step in which a chunk leaves counts for both: it is already the first "
            "of its way.": lambda board, chunks: least_port(board, chunks, before=0),
            "You let a chunk leave in the last step. It has to reach the chip farthest "
            "away.": (
                lambda board, chunks: max(
                    up(chunks, cables) for cables in cables_of(board).values()
                )
            ),
            "The best bound is the largest, over all chips.": (
                lambda board, chunks: min(
                    up(chunks, cables) + spans(board)[chip] - 1
                    for chip, cables in cables_of(board).items()
                )
            ),
        },
    )
    cube = chosen(max(far(CUBE), sends(CUBE, 8), port(CUBE, 8)), label="steps")
    expect.reading("steps that eight chunks need on a DGX-1, at least", cube)

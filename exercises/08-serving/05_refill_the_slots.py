"""Refill the slots.

level: build

A server has so many slots. A request takes one for as many steps as its answer has
tokens, one a step, and all requests wait in line from the start.

- `static_steps(lengths, slots)`: steps until all are answered, when the first `slots`
  of the line form a batch, the batch lasts until its longest answer is done, and only
  then the next `slots` of the line begin.
- `continuous_steps(lengths, slots)`: steps until all are answered, when a slot takes
  the next of the line in the step after its last one ended.
- `gain(slots)`: how many times as many tokens a step the second way makes, with answers
  of exponential lengths and a line that never ends.

hint: The last batch may be smaller, and the line keeps its order. For the second way,
remember when each slot is free; the next of the line takes the one that is free first.
For the gain: with B answers running the next one ends after m/B steps.
"""

import heapq

from stacklib.grading import expect

# ---- your answer ----


def static_steps(lengths, slots):
    """Steps of batches that wait for their longest answer."""
    starts = range(0, len(lengths), slots)
    return sum(max(lengths[at : at + slots]) for at in starts)


def continuous_steps(lengths, slots):
    """Steps of slots that are refilled at once."""
    free = [0] * slots
    for length in lengths:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


def gain(slots):
    """Tokens a step of refilled slots over those of batches that wait."""
    return sum(1 / running for running in range(1, slots + 1))


# ---- tests ----

LINES = [
    {"lengths": [5], "slots": 3},
    {"lengths": [1, 9, 2, 2, 2, 2, 9], "slots": 2},
    {"lengths": [4, 4, 4, 4], "slots": 2},
    {"lengths": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5], "slots": 4},
    {"lengths": [30, 1, 1, 1, 1, 1, 1, 30, 2, 2], "slots": 3},
    {"lengths": [7, 2, 8, 1], "slots": 1},
]


def served(lengths, slots, wait):
    """Step by step: who is in a slot, and what is left of his answer."""
    line, running, count = list(lengths), [], 0
    while line or running:
        if not (wait and running):
            new = slots - len(running)
            running, line = running + line[:new], line[new:]
        running = [left - 1 for left in running if left > 1]
        count += 1
    return count


def in_turn(lengths, slots):
    """Slot after slot in turn, free or not."""
    return max(sum(lengths[at::slots]) for at in range(min(slots, len(lengths))))


def late(lengths, slots):
    """A slot rests for a step between two answers."""
    return continuous_like([each + 1 for each in lengths], slots) - 1


def continuous_like(lengths, slots):
    return served(lengths, slots, wait=False)


def test_static():
    expect.function_matches(
        static_steps,
        lambda lengths, slots: served(lengths, slots, wait=True),
        LINES,
        unit="steps",
        mistakes={
            "The line was sorted first; nobody knows how long an answer will be.": (
                lambda lengths, slots: served(sorted(lengths), slots, wait=True)
            ),
            "A batch lasts as long as its longest answer, not as its average.": (
                lambda lengths, slots: sum(lengths) / slots
            ),
            "The slots are refilled there; a static batch is not.": continuous_like,
        },
    )


def test_continuous():
    expect.function_matches(
        continuous_steps,
        continuous_like,
        LINES,
        unit="steps",
        mistakes={
            "The next of the line takes the slot that is free first; yours go to the "
            "slots in turn.": in_turn,
            "The tokens are spread evenly there; one answer cannot be in two slots.": (
                lambda lengths, slots: -(-sum(lengths) // slots)
            ),
            "The slot takes the next one in the very next step; yours rests for one.": (
                late
            ),
        },
    )
    lengths = [1 + (37 * n) % 61 for n in range(400)]
    ratio = static_steps(lengths, 8) / continuous_steps(lengths, 8)
    expect.reading("gain for even lengths, eight slots", f"{ratio:.2f}")


def test_gain():
    inverses = {1: 1.0, 2: 1.5, 4: 25 / 12, 8: 761 / 280, 16: 2436559 / 720720}
    expect.function_matches(
        gain,
        lambda slots: inverses[slots],
        [{"slots": slots} for slots in inverses],
        rel=0.001,
        mistakes={
            "The last of them runs alone for as long as one answer takes: your sum "
            "stops before it, or begins after.": lambda slots: (
                inverses[slots] - 1 / slots or 0.5
            ),
            "That is the number of slots: so much would be gained if of a batch only "
            "one answer counted.": lambda slots: slots,
        },
    )

"""Data-parallel training by your own schedule.

level: build
project: P6.2

Suppose a model y = w x with a vector of weights, trained on the squared error. Each of
n ranks has samples of its own and sums their gradients; your schedule adds up the
ranks' sums, and each rank updates its weights. The tests run the schedule among
simulated ranks and compare losses with one process that has all samples.

- `sends(ranks)`: the all-reduce, a list of (step, source, destination, chunk, reduce)
  with as many chunks as ranks. Sends of a step happen at the same time; `reduce` is
  True where what arrives is added. No rank sends more than one chunk a step.
- `update(weights, summed, samples, rate)`: the weights afterwards, with the mean of the
  gradients of all `samples`, as a list.

hint: follow one chunk around a ring. When has it met everybody's sum, and who lacks it
then? In each step every rank has another chunk to send.
"""

import random
from collections import Counter

from stacklib.grading import expect
from stacklib.interconnect import run, verify
from stacklib.interconnect.schedules.schedule import Schedule

# ---- your answer ----


def sends(ranks):
    """The all-reduce as a ring."""
    found = []
    for step in range(2 * (ranks - 1)):
        for rank in range(ranks):
            reduce = step < ranks - 1
            chunk = (rank - step) % ranks if reduce else (rank + ranks - step) % ranks
            found.append((step, rank, (rank + 1) % ranks, chunk, reduce))
    return found


def update(weights, summed, samples, rate):
    """The weights afterwards."""
    return [w - rate * g / samples for w, g in zip(weights, summed, strict=True)]


# ---- tests ----

EACH, WIDTH, RATE, STEPS = 4, 6, 0.05, 8


def made(ranks):
    """The reader's schedule, if it is one."""
    rows = [tuple(row) for row in sends(ranks)]
    return Schedule("all_reduce", "yours", ranks, ranks, rows)


def test_the_schedule_is_proved():
    for ranks in (2, 3, 4, 8):
        proof = verify(made(ranks))
        if proof.holds:
            continue
        kinds = {fault.kind for fault in proof.found}
        if "reduced twice" in kinds:
            raise expect.Mistake(
                f"{ranks} ranks: sums that are complete are added again; in the second "
                f"half they are copied. {proof.faults[0]}"
            )
        if kinds == {"missing"}:
            raise expect.Mistake(
                f"{ranks} ranks: not every rank has every sum at the end; the sums go "
                f"around, too. {proof.faults[0]}"
            )
        raise expect.Mistake(f"{ranks} ranks: {proof.faults[0]}")


def test_nobody_sends_two_chunks_a_step():
    for ranks in (2, 3, 4):
        busy = Counter((step, source) for step, source, *_ in sends(ranks))
        if busy and max(busy.values()) > 1:
            raise expect.Mistake(
                f"{ranks} ranks: one sends {max(busy.values())} chunks in a step"
            )


def drawn(ranks):
    draw = random.Random(ranks)
    samples = []
    for _ in range(ranks * EACH):
        x = [draw.gauss(0, 1) for _ in range(WIDTH)]
        samples.append((x, sum(x) + draw.gauss(0, 0.1)))
    return samples


def gradient(weights, samples):
    total, loss = [0.0] * len(weights), 0.0
    for x, y in samples:
        wrong = sum(w * v for w, v in zip(weights, x, strict=True)) - y
        loss += wrong * wrong
        total = [t + 2 * wrong * v for t, v in zip(total, x, strict=True)]
    return total, loss / len(samples)


def trained(ranks, rate=RATE, divisor=None):
    """Losses of one process that has every sample."""
    samples, weights, losses = drawn(ranks), [0.0] * WIDTH, []
    for _ in range(STEPS):
        total, loss = gradient(weights, samples)
        losses.append(loss)
        count = divisor or len(samples)
        weights = [w - rate * g / count for w, g in zip(weights, total, strict=True)]
    return losses


def test_losses_are_those_of_one_process():
    for ranks in (2, 4):
        schedule, samples = made(ranks), drawn(ranks)
        weights, losses = [0.0] * WIDTH, []
        for _ in range(STEPS):
            losses.append(gradient(weights, samples)[1])
            own = [gradient(weights, samples[r::ranks])[0] for r in range(ranks)]
            summed = [float(g) for g in run(schedule, own)[0]]
            weights = list(update(weights, summed, len(samples), RATE))
        told = trained(ranks)
        if close(losses, told):
            continue
        if close(losses, trained(ranks, divisor=1)):
            raise expect.Mistake("the sum of gradients, where the mean is asked")
        if close(losses, trained(ranks, rate=-RATE)):
            raise expect.Mistake("uphill: the gradient is subtracted")
        raise expect.Mistake(f"{ranks} ranks: losses {losses[:3]}, not {told[:3]}")


def close(a, b):
    return all(abs(x - y) <= 1e-9 * max(1.0, abs(y)) for x, y in zip(a, b, strict=True))

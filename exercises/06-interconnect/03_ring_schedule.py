"""A ring, step by step.

level: build

An all-reduce over `n` chips in a circle: chip `i` sends to chip `(i + 1) % n` and to
nobody else. Each chip's array is cut into `n` chunks. A send is five values, `(step,
source, destination, chunk, adds)`: chip `source` sends what it holds of a chunk, and
the receiver adds it to what it holds (`True`) or copies it over that (`False`). All
sends of a step read what stood before the step. In each step every chip sends one
chunk.

- `ring(n)`: a list of the sends, in order of their steps, after which every chip holds
  the whole sum of every chunk. In the fewest steps with which this can be done.
- `chunks_sent(n)`: how many chunks each chip sends in all.

hint: First sum, then spread. Follow one chunk around the circle: in which step does it
leave chip 0, in which chip 1? Which chunk does a chip send that sent chunk 2 last?
"""

from stacklib.grading import expect
from stacklib.interconnect import verify
from stacklib.interconnect.schedules.schedule import Schedule

# ---- your answer ----


def ring(n):
    """Sends of an all-reduce around n chips."""
    sends = []
    for step in range(2 * (n - 1)):
        for chip in range(n):
            chunk = (chip - step) % n
            sends.append((step, chip, (chip + 1) % n, chunk, step < n - 1))
    return sends


def chunks_sent(n):
    """Chunks that each chip sends."""
    return 2 * (n - 1)


# ---- tests ----

CHIPS = (2, 3, 4, 5, 8, 13)


def proof(n, sends):
    return verify(Schedule("all_reduce", "yours", n, n, tuple(sends)))


def read(n):
    """Their sends as plain tuples, refused where they are none."""
    given = expect.call(ring, {"n": n})
    try:
        sends = [tuple(send) for send in given]
    except TypeError:
        raise expect.Mistake("a list of sends is asked, each of five values") from None
    for send in sends:
        if len(send) != 5:
            raise expect.Mistake(f"{send}: a send is five values")
    if not sends:
        raise expect.Mistake(
            f"ring({n}) sends nothing: of every chunk each chip lacks the others' sums"
        )
    steps = [send[0] for send in sends]
    if steps != sorted(steps):
        raise expect.Mistake("the sends are not in order of their steps")
    return sends


def circle(n, chunk, adds, steps=None):
    """All chips send to the next one, the chunk and the sign by a rule."""
    return [
        (step, at, (at + 1) % n, chunk(at, step, n), adds(step, n))
        for step in range(2 * (n - 1) if steps is None else steps)
        for at in range(n)
    ]


def summing(step, n):
    return step < n - 1


SLIPS = {
    "One step too many adds: after n - 1 steps a part is whole, and what follows has "
    "to copy.": lambda n: circle(n, lambda at, s, n: (at - s) % n, lambda s, n: s < n),
    "That is the half that sums: each chip ends with one whole part. It still has to "
    "go round.": lambda n: circle(
        n, lambda at, s, n: (at - s) % n, summing, steps=n - 1
    ),
    "Each chip sends the same chunk in every step, so that no contribution gets "
    "further than the next chip.": lambda n: circle(n, lambda at, s, n: at, summing),
    "The chunk's number rises with the step: a chip then sends one that has not come "
    "to it.": lambda n: circle(n, lambda at, s, n: (at + s) % n, summing),
    "All sends add. In the second round a whole sum meets parts of itself.": (
        lambda n: circle(n, lambda at, s, n: (at - s) % n, lambda s, n: True)
    ),
}


def plain(sends):
    return sorted(tuple(map(int, send)) for send in sends)


def moved(sends, n, by):
    """The same with every chunk's number moved on."""
    return plain((s, a, b, (c + by) % n, r) for s, a, b, c, r in sends)


def explain(n, sends):
    mine = plain(sends)
    for text, slip in SLIPS.items():
        wrong = slip(n)
        if any(moved(wrong, n, by) == mine for by in range(n)):
            raise expect.Mistake(text)


def test_it_is_proved():
    tried = {n: read(n) for n in CHIPS}
    for n, sends in list(tried.items())[::-1]:
        try:
            found = proof(n, sends)
        except (ValueError, TypeError) as fault:
            raise expect.Mistake(f"ring({n}): {fault}") from None
        if not found.holds:
            explain(n, sends)
            raise expect.Mistake(f"ring({n}): {found.faults[0]}")


def test_it_is_a_ring():
    for n in CHIPS:
        sends = read(n)
        for step, source, destination, _, _ in sends:
            if destination != (source + 1) % n:
                raise expect.Mistake(
                    f"ring({n}): step {step}, chip {source} sends to {destination}, "
                    "which is not the next one"
                )
        busy = [(step, source) for step, source, *_ in sends]
        if len(set(busy)) < len(busy):
            raise expect.Mistake(f"ring({n}): a chip sends two chunks in one step")


def test_it_is_short():
    for n in CHIPS:
        steps = 1 + max(send[0] for send in read(n))
        if steps > 2 * (n - 1):
            raise expect.Mistake(
                f"ring({n}) takes {steps} steps. A part needs n - 1 to be summed up "
                "and n - 1 to come round."
            )


def test_chunks_sent():
    expect.function_matches(
        chunks_sent,
        lambda n: 2 * (n - 1),
        [{"n": n} for n in CHIPS],
        rel=1e-9,
        mistakes={
            "You counted only the sends that add.": lambda n: n - 1,
            "A whole turn is one send too many: a part need not come back to where it "
            "began.": lambda n: 2 * n,
            "Those are all chips' together; each chip's are asked.": (
                lambda n: 2 * n * (n - 1)
            ),
        },
    )
    expect.reading("chunks that each of eight chips sends", chunks_sent(8))

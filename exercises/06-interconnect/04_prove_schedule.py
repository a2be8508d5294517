"""Which chunk is wrong?

level: build

A schedule of an all-reduce is a list of sends `(step, source, destination, chunk,
adds)`, in order of their steps. Chip `source` sends what it holds of a chunk; the
receiver adds it to what it holds (`True`) or copies it over that (`False`). All sends
of one step read what stood before the step. In the beginning each chip holds its own
contribution to every chunk; at the end each should hold all chips' contributions to
every chunk, each exactly once.

`first_fault(chips, chunks, sends)`: what goes wrong first, or None where nothing does.

- `("twice", step, chip, chunk)`: a contribution is added to a sum that has it already.
  Of several the one that stands first in the list; nothing else is looked for then,
  and it counts although the right sum may be copied over it later.
- `("missing", chip, chunk)`: at the end a chip lacks a contribution. Of several the one
  of the lowest chip, and of its lowest chunk.

Suppose that no two copies, and no copy and sum, come to a chip's chunk in one step.

hint: No numbers are needed. Keep for each chip and chunk the set of chips whose
contributions are in it. What does adding do to two such sets, and when is it wrong?
"""

import random

from stacklib.grading import expect
from stacklib.interconnect import all_reduce, verify
from stacklib.interconnect.schedules.schedule import Schedule

# ---- your answer ----


def first_fault(chips, chunks, sends):
    """What goes wrong first, or None."""
    holds = [[{chip} for _ in range(chunks)] for chip in range(chips)]
    now, before = -1, holds
    for step, source, destination, chunk, adds in sends:
        if step != now:
            now, before = step, [list(row) for row in holds]
        came = before[source][chunk]
        if not adds:
            holds[destination][chunk] = came
            continue
        if holds[destination][chunk] & came:
            return ("twice", step, destination, chunk)
        holds[destination][chunk] = holds[destination][chunk] | came
    for chip in range(chips):
        for chunk in range(chunks):
            if len(holds[chip][chunk]) < chips:
                return ("missing", chip, chunk)
    return None


# ---- tests ----

ALGORITHMS = ("ring", "tree", "halving_doubling", "direct", "bruck")
RNG = random.Random(6)


def broken(sends):
    """The same with one thing wrong."""
    at = RNG.randrange(len(sends))
    kind = RNG.choice(("drop", "again", "copy"))
    send = tuple(sends[at])
    if kind == "drop":
        return [*sends[:at], *sends[at + 1 :]]
    if kind == "again":  # a step later, by itself
        later = [(s + (s > send[0]), *rest) for s, *rest in sends]
        extra = (send[0] + 1, *send[1:])
        return sorted([*later, extra], key=lambda one: one[0])
    others = [
        one
        for one in sends
        if one is not sends[at]
        and (one[0], one[2], one[3]) == (send[0], send[2], send[3])
    ]
    if others:
        return [*sends[:at], *sends[at + 1 :]]
    return [*sends[:at], (*send[:4], not send[4]), *sends[at + 1 :]]


def doubling(chips):
    """Partners swap whole sums: both send the same chunk in the same step."""
    steps = range(chips.bit_length() - 1)
    return [(s, at, at ^ 1 << s, 0, True) for s in steps for at in range(chips)]


def cases():
    found = {f"doubling of {n}": (n, 1, doubling(n)) for n in (2, 4, 8)}
    for name in ALGORITHMS:
        for chips in (2, 3, 4, 5, 8):
            made = all_reduce(chips, name)
            right = [tuple(send) for send in made.sends]
            found[f"{name} of {chips}"] = (chips, made.chunks, right)
            for number in range(3):
                told = f"{name} of {chips}, broken {number}"
                found[told] = (chips, made.chunks, broken(right))
    return found


CASES = cases()


def judged(chips, chunks, sends, *, at_once=True, count=False, end=True, copies=True):
    """By bits; each option turned is a slip."""
    holds = [[1 << chip] * chunks for chip in range(chips)]
    many = [[1] * chunks for _ in range(chips)]
    now, before, some = -1, holds, many
    for step, source, to, chunk, adds in sends:
        if step != now or not at_once:
            now = step
            before = [list(row) for row in holds]
            some = [list(row) for row in many]
        came, there = before[source][chunk], holds[to][chunk]
        if adds or not copies:
            if came & there and not count and copies:
                return ("twice", step, to, chunk)
            holds[to][chunk], many[to][chunk] = (
                came | there,
                many[to][chunk] + some[source][chunk],
            )
        else:
            holds[to][chunk], many[to][chunk] = came, some[source][chunk]
    for chip in range(chips):
        for chunk in range(chunks):
            whole = holds[chip][chunk] == (1 << chips) - 1
            if count:
                whole = many[chip][chunk] == chips
            if end and not whole:
                return ("missing", chip, chunk)
    return None


SLIPS = {
    "You let a send see what another send of its step has brought. All of a step read "
    "what stood before it.": {"at_once": False},
    "You count contributions. A sum that has one of them again and lacks another has "
    "the right number.": {"count": True},
    "You look only at what is added twice. At the end a chip may lack something "
    "although nothing went wrong on the way.": {"end": False},
    "A copy replaces what was there; you join the two, and lose sight of what was "
    "overwritten.": {"copies": False},
}


def answered(chips, chunks, sends):
    given = expect.call(
        first_fault, {"chips": chips, "chunks": chunks, "sends": list(sends)}
    )
    if given is None:
        return None
    try:
        kind, *places = given
        return (str(kind), *map(int, places))
    except (TypeError, ValueError):
        raise expect.Mistake(f"{given!r}: a tuple as described, or None") from None


def test_every_schedule():
    failed = [
        (name, mine, judged(*case))
        for name, case in CASES.items()
        if (mine := answered(*case)) != judged(*case)
    ]
    if not failed:
        return
    for text, slip in SLIPS.items():
        if all(judged(*CASES[name], **slip) == mine for name, mine, _ in failed):
            raise expect.Mistake(text)
    name, mine, right = failed[0]
    raise expect.Mistake(f"{name}: {mine} instead of {right}")


def test_it_is_what_the_book_proves():
    """None where `verify` finds every sum whole, and nothing spoilt on the way."""
    for name, (chips, chunks, sends) in CASES.items():
        made = Schedule("all_reduce", "yours", chips, chunks, tuple(sends))
        proof, told = verify(made), answered(chips, chunks, sends)
        mended = told is not None and told[0] == "twice" and proof.waste
        if proof.holds != (told is None or bool(mended)):
            raise expect.Mistake(f"{name}: the book's proof says otherwise")
    found = sum(answered(*case) is not None for case in CASES.values())
    expect.reading("broken schedules found", found)

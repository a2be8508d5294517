"""Replay a trace.

level: build
project: P8.6

A trace of requests is served by a machine with so many slots. A row of it is (arrival
in ms, tokens of the answer), in the order of arrival. A step takes `first` ms, and
`each` more for every request in it, and gives each of them one token at its end; who
has all tokens leaves. A step begins as soon as the one before it ends and somebody is
there.
Before a step begins, who has arrived by then (at that very ms, too) joins in the order
of arrival, while slots last:

- `continuous(rows, slots, first, each)`: whenever there is a free slot.
- `static(rows, slots, first, each)`: only when nobody is left in any slot.

Both return each request's time to its first token, in ms, in the order of the rows.

- `percentile(times, percent)`: the least of the times that at least so many in a
  hundred do not exceed.

Suppose `TRACE` below came from a log: the grader prints what yours say of it. Put your
own log in its place.

hint: Keep a clock, a place in the trace and a list of who is in a slot. If the list is
empty and nobody has come, set the clock to the next arrival.
"""

from stacklib.grading import expect

LOG = (
    "0 30, 5 4, 9 60, 14 9, 80 22, 83 5, 88 41, 91 3, 95 12, 210 70, 260 6, 300 18, "
    "305 33, 306 2, 311 25, 420 8, 505 14, 506 52, 508 7, 640 11, 700 28, 900 36"
)
TRACE = [tuple(map(int, row.split())) for row in LOG.split(", ")]

# ---- your answer ----


def served(rows, slots, first, each, joins):
    """Arrive, step, leave; ``joins``: while others run."""
    now, place, inside, times = 0, 0, [], [0] * len(rows)
    while place < len(rows) or inside:
        if not inside:
            now = max(now, rows[place][0])
        free = slots - len(inside) if joins or not inside else 0
        while place < len(rows) and rows[place][0] <= now and free:
            inside.append((place, rows[place][1]))
            place, free = place + 1, free - 1
        now += first + each * len(inside)
        for who, left in inside:
            if left == rows[who][1]:
                times[who] = now - rows[who][0]
        inside = [(who, left - 1) for who, left in inside if left > 1]
    return times


def continuous(rows, slots, first, each):
    """Times to the first token where a free slot is given away before every step."""
    return served(rows, slots, first, each, joins=True)


def static(rows, slots, first, each):
    """The same where a batch ends before the next one begins."""
    return served(rows, slots, first, each, joins=False)


def percentile(times, percent):
    """By the nearest rank."""
    ordered = sorted(times)
    rank = -(-percent * len(ordered) // 100)
    return ordered[max(1, rank) - 1]


# ---- tests ----

CASES = [
    {"rows": [(3, 2)], "slots": 2, "first": 5, "each": 1},
    {"rows": [(0, 3), (0, 1), (0, 2)], "slots": 2, "first": 4, "each": 2},
    {"rows": [(0, 2), (6, 2), (12, 1), (90, 4)], "slots": 4, "first": 5, "each": 1},
    {"rows": TRACE, "slots": 4, "first": 6, "each": 1},
    {"rows": TRACE, "slots": 2, "first": 3, "each": 2},
    {"rows": TRACE, "slots": 64, "first": 9, "each": 0},
]
SORTED = [
    {"times": [40], "percent": 99},
    {"times": [7, 3, 9, 1], "percent": 50},
    {"times": [7, 3, 9, 1], "percent": 51},
    {"times": [n * 37 % 101 for n in range(100)], "percent": 99},
    {"times": [n * 37 % 101 for n in range(100)], "percent": 90},
    {"times": [n * 59 % 251 for n in range(250)], "percent": 95},
]


def replayed(rows, slots, first, each, *, wait=False, begins=False, ends=False):
    """Step after step, from a line; what is asked, and what is near it."""
    line = [(at, new, who) for who, (at, new) in enumerate(rows)]
    batch, clock, found = {}, 0, {}
    while line or batch:
        if not batch:
            clock = max(clock, line[0][0])
        if not (wait and batch):
            here = [row for row in line if row[0] <= clock]
            for at, new, who in here[: slots - len(batch)]:
                line.remove((at, new, who))
                batch[who] = new
                found[who] = clock - at
        began, clock = clock, clock + first + each * len(batch)
        for who in list(batch):
            if ends or (batch[who] == rows[who][1] and not begins):
                found[who] += clock - began
            batch[who] -= 1
            if not batch[who]:
                del batch[who]
    return [found[who] for who in range(len(rows))]


def compare(way, right, mistakes):
    """Hold the times of every trace, and name the mistake that explains them all."""
    failed = []
    for case in CASES:
        given = {**case, "rows": list(case["rows"])}
        what = "a list of times in ms, one for each row,"
        found = expect.sequence(way(**given), what, len(case["rows"]))
        times = [expect.read(time, "ms") for time in found]
        if any(abs(x - y) > 1e-6 for x, y in zip(times, right(**case), strict=True)):
            failed.append((case, times))
    expect.reading("traces that agree", f"{len(CASES) - len(failed)} of {len(CASES)}")
    if failed:
        for text, mistake in mistakes.items():
            if all(mistake(**case) == times for case, times in failed):
                raise expect.Mistake(text)
        case, times = failed[0]
        pairs = zip(times, right(**case), strict=True)
        who = next(at for at, (x, y) in enumerate(pairs) if abs(x - y) > 1e-6)
        raise expect.Mistake(
            f"{case['slots']} slots, request {who} of {case['rows'][:4]}...: "
            f"{times[who]:g} ms is not when its first token comes"
        )


def test_continuous():
    compare(
        continuous,
        replayed,
        {
            "That is the time until a request is let in; its token comes at the end of "
            "the step.": lambda **given: replayed(**given, begins=True),
            "That is the time to the last token.": (
                lambda **given: replayed(**given, ends=True)
            ),
            "Yours wait until all slots are empty; a free one is given away before "
            "every step.": lambda **given: replayed(**given, wait=True),
        },
    )


def test_static():
    compare(
        static,
        lambda **given: replayed(**given, wait=True),
        {
            "Yours refill a slot while others run; a static batch ends first.": (
                replayed
            ),
        },
    )
    asked = {"rows": TRACE, "slots": 4, "first": 6, "each": 1}
    for name, way in (("continuous", continuous), ("static", static)):
        times = sorted(expect.sequence(way(**asked), "a list of times"))
        expect.reading(
            f"p50 and the longest, {name}", f"{times[11]}, {times[-1]}", "ms"
        )


def test_percentile():
    expect.function_matches(
        percentile,
        lambda times, percent: min(
            time
            for time in times
            if 100 * sum(each <= time for each in times) >= percent * len(times)
        ),
        SORTED,
        mistakes={
            "The rank counts from one: yours is the next larger time.": (
                lambda times, percent: sorted(times)[
                    min(len(times) - 1, percent * len(times) // 100)
                ]
            ),
            "The times are not in order.": lambda times, percent: times[
                -(-percent * len(times) // 100) - 1
            ],
        },
    )

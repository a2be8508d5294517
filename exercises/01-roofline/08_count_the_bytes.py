"""Time a copy, and count its bytes.

level: build
project: P1.3

A bandwidth is bytes over seconds, and both can be got wrong. Write the four pieces
of a copy benchmark.

- `counted(loop, n, element)`: the bytes that STREAM counts for one pass over arrays
  of `n` elements of `element` bytes: every array that the loop names, once. The loops
  are `"copy"` (c = a), `"scale"` (b = s c), `"add"` (c = a + b) and `"triad"`
  (a = b + s c).
- `moved(loop, n, element)`: the bytes that cross between memory and cache. Before a
  store overwrites part of a line, the cache first reads that line.
- `time_copy(copy, target, source, clock, repeats)`: call `copy(target, source)` and
  give a list of seconds, one for each of `repeats` copies. `clock()` tells seconds.
  The very first copy also has to find the pages: make it before you look at the
  clock.
- `bandwidth(size, times)`: GB/s of a pass of `size` bytes, from its times. As STREAM
  does, take the best repetition: the others were disturbed.

The clock of the tests is not a real one. It moves only when a copy runs.

hint: Count arrays, not operations: a copy has two. For what is moved, one array is
written without being read by the loop; its lines come in all the same. And a GB is
a power of ten, not of two.
"""

from stacklib.grading import expect
from stacklib.roofline.host import streams

# ---- your answer ----


def counted(loop, n, element):
    """Bytes of one pass by STREAM's rule."""
    arrays = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
    return arrays[loop] * n * element


def moved(loop, n, element):
    """Bytes of one pass between memory and cache, the lines read for a store too."""
    return counted(loop, n, element) + n * element


def time_copy(copy, target, source, clock, repeats):
    """Seconds of each of ``repeats`` copies, after one that is not timed."""
    copy(target, source)
    times = []
    for _ in range(repeats):
        start = clock()
        copy(target, source)
        times.append(clock() - start)
    return times


def bandwidth(size, times):
    """GB/s of the best repetition of a pass of ``size`` bytes."""
    return size / min(times) / 1e9


# ---- tests ----

LOOPS = [
    {"loop": loop, "n": n, "element": element}
    for loop in streams.STREAMS
    for n in (1000, 2**20)
    for element in (8, 4)
]


def test_counted():
    expect.function_matches(
        counted,
        lambda loop, n, element: streams.counted_bytes(loop, n, element),
        LOOPS,
        unit="B",
        rel=1e-6,
        mistakes={
            "You counted one array; the loop reads and writes.": (
                lambda loop, n, element: n * element
            ),
            "You counted elements; each has several bytes.": (
                lambda loop, n, element: streams.counted_bytes(loop, n, 1)
            ),
        },
    )


def test_moved():
    expect.function_matches(
        moved,
        lambda loop, n, element: streams.moved_bytes(loop, n, element),
        LOOPS,
        unit="B",
        rel=1e-6,
        mistakes={
            "The line that a store overwrites is read first: one array more.": (
                lambda loop, n, element: streams.counted_bytes(loop, n, element)
            ),
        },
    )


class Desk:
    """A copy that takes the seconds it is told to, and the clock beside it."""

    def __init__(self, seconds):
        self.seconds, self.now, self.taken = list(seconds), 100.0, []

    def clock(self):
        return self.now

    def copy(self, target, source):
        at = min(len(self.taken), len(self.seconds) - 1)
        self.now += self.seconds[at]
        self.taken.append(self.seconds[at])
        target[:] = source


FIRST, LATER = 8.0, [0.5, 0.25, 0.75, 0.375]


def test_time_copy():
    desk, target, source = Desk([FIRST, *LATER]), [0] * 6, [3, 1, 4, 1, 5, 9]
    found = time_copy(desk.copy, target, source, desk.clock, len(LATER))
    found = expect.sequence(found, "a list of seconds, one for each copy,")
    times = [expect.read(seconds, "s") for seconds in found]
    if desk.taken and times and abs(times[0] - FIRST) < 0.01:
        raise expect.Mistake(
            f"{times[0]:g} s: you timed the first copy, which also finds the pages; "
            "make it before the clock is read"
        )
    if target != source:
        raise expect.Mistake("the target does not hold the source: nothing was copied")
    if len(times) != len(LATER):
        raise expect.Mistake(
            f"{len(times)} times for {len(LATER)} copies: read the clock around each"
        )
    for mine, taken in zip(times, desk.taken[-len(LATER) :], strict=True):
        expect.number(mine, taken, unit="s")
    expect.reading("copies made", len(desk.taken))


def test_bandwidth():
    expect.function_matches(
        bandwidth,
        lambda size, times: size / min(times) / 1e9,
        [{"size": size, "times": LATER} for size in (16e9, 24 * 10**6)],
        unit="GB/s",
        rel=0.005,
        mistakes={
            "That is the mean; STREAM takes the best repetition.": (
                lambda size, times: size * len(times) / sum(times) / 1e9
            ),
        },
    )

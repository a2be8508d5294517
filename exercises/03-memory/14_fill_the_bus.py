"""Fill the bus: the bytes in flight and the threads that a memory wants.

level: build
project: P3.4

A vector add on a GPU: each thread loads two numbers of `width` bytes, waits for both,
adds them and stores one of the same size. Nobody waits for a store, but it takes its
turn on the bus, so the memory moves three numbers for every two that are loaded.

- `needed(bandwidth, latency, share)`: bytes that have to be on the way for that share
  of the bandwidth. In B/s, s and per one.
- `loads_in_flight(units, threads, width)`: bytes of loads that a device with so many
  compute units has on the way when each unit holds `threads` such threads.
- `drawn(units, threads, width, bandwidth, latency, most)`: share of the bandwidth that
  the kernel draws, stores included. The bus gives at most the share `most`.
- `tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32)`: the fewest
  threads a unit, a multiple of `warp` and at most `held`, that draw the share `goal`;
  0 where no number does.

Requests do not wait for each other here: the latency is given, and stays.

hint: Start from Little's law for the loads alone: their rate is their bytes in flight
over the latency. The store comes on top of that. Then `tune` may simply try one warp
more each time.
"""

from stacklib.grading import expect

# ---- your answer ----


def needed(bandwidth, latency, share):
    """Bytes on the way for a share of the bandwidth."""
    return share * bandwidth * latency


def loads_in_flight(units, threads, width):
    """Bytes of loads on the way in the whole device."""
    return units * threads * 2 * width


def drawn(units, threads, width, bandwidth, latency, most):
    """Share of the bandwidth drawn, stores included."""
    loaded = loads_in_flight(units, threads, width) / latency
    return min(most, 1.5 * loaded / bandwidth)


def tune(units, width, bandwidth, latency, most, goal, held=2048, warp=32):
    """Fewest threads a unit that draw ``goal``, or 0."""
    for threads in range(warp, held + 1, warp):
        if drawn(units, threads, width, bandwidth, latency, most) >= goal:
            return threads
    return 0


# ---- tests ----

CHIPS = [
    {"bandwidth": 3.35e12, "latency": 338e-9, "units": 132},
    {"bandwidth": 1.555e12, "latency": 405e-9, "units": 108},
    {"bandwidth": 0.9e12, "latency": 285e-9, "units": 80},
]


def reference(units, threads, width, bandwidth, latency, most, moved=1.5):
    flying = units * threads * 2 * width
    return min(most, moved * flying / latency / bandwidth)


def search(units, width, bandwidth, latency, most, goal, held=2048, warp=32, **how):
    counts = range(warp, held + 1, warp)
    found = (
        n
        for n in counts
        if reference(units, n, width, bandwidth, latency, most, **how) >= goal
    )
    return next(found, 0)


def test_needed():
    expect.function_matches(
        needed,
        lambda bandwidth, latency, share: share * bandwidth * latency,
        [
            {"bandwidth": c["bandwidth"], "latency": c["latency"], "share": s}
            for c in CHIPS
            for s in (0.5, 0.8)
        ],
        unit="B",
        mistakes={
            "That is for the whole bandwidth; a share of it is asked for.": (
                lambda bandwidth, latency, share: bandwidth * latency
            ),
            "In flight is bandwidth times latency, not bandwidth over it.": (
                lambda bandwidth, latency, share: share * bandwidth / latency
            ),
        },
    )


def test_loads_in_flight():
    expect.function_matches(
        loads_in_flight,
        lambda units, threads, width: units * threads * 2 * width,
        [
            {"units": c["units"], "threads": t, "width": w}
            for c in CHIPS
            for t in (64, 1024)
            for w in (4, 16)
        ],
        unit="B",
        mistakes={
            "A thread loads two numbers before it waits.": (
                lambda units, threads, width: units * threads * width
            ),
            "That is one compute unit; the device has more.": (
                lambda units, threads, width: threads * 2 * width
            ),
            "Nobody waits for a store: it is not among the loads in flight.": (
                lambda units, threads, width: units * threads * 3 * width
            ),
        },
    )


def test_drawn():
    expect.function_matches(
        drawn,
        reference,
        [
            {**c, "threads": t, "width": w, "most": 0.88}
            for c in CHIPS
            for t in (64, 160, 512, 2048)
            for w in (4, 16)
        ],
        mistakes={
            "Stores take their turn on the bus: for two numbers loaded three move.": (
                lambda **case: reference(**case, moved=1.0)
            ),
            "The bus gives no more than `most`.": (
                lambda **case: reference(**{**case, "most": 1e9})
            ),
            "At most the whole bandwidth is too much: the bus gives `most`.": (
                lambda **case: reference(**{**case, "most": 1.0})
            ),
        },
    )


def test_tune():
    cases = [
        {**c, "width": w, "most": 0.88, "goal": 0.8} for c in CHIPS for w in (4, 8, 16)
    ]
    for case in [*cases, {**CHIPS[0], "width": 4, "most": 0.7, "goal": 0.8}]:
        right, mine = search(**case), expect.call(tune, case)
        slips = {
            "That many threads of loads alone; the stores count too.": search(
                **case, moved=1.0
            ),
            "The bus never gives that share: no number of threads does, so 0.": search(
                **{**case, "most": 1.0}
            ),
        }
        if right and right + 32 not in slips.values():
            slips["A warp too many: one less draws the share already."] = right + 32
        known = {text: n for text, n in slips.items() if n != right}
        if expect.read(mine) % 32:
            raise expect.Mistake(
                f"{expect.called(tune, case)} gives {mine}: whole "
                "warps are asked for, multiples of 32"
            )
        expect.number(mine, right, rel=1e-9, mistakes=known)

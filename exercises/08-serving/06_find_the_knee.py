"""Find the knee.

level: build
project: P8.1

Serve the book's own model, and have more and more clients ask it at once:

    $ stacklib serve --port 8000 --max-batch 32

and, in another window, with `pip install openai`:

    import time
    from concurrent.futures import ThreadPoolExecutor
    from openai import OpenAI

    client = OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="none")
    form = dict(model="tiny", prompt="def", max_tokens=64, temperature=0)

    def ask(_):
        return client.completions.create(**form).usage.completion_tokens

    for batch in (1, 1, 2, 4, 8, 16, 32):  # the first to warm up
        with ThreadPoolExecutor(batch) as pool:
            start = time.perf_counter()
            tokens = sum(pool.map(ask, range(batch)))
            print((batch, tokens, time.perf_counter() - start))

Suppose it printed `SWEEP` below: clients, tokens made for all of them together, and
seconds. Every step makes one token for each client. Part of its time is the same
whoever is there, the rest comes once a client. The knee is the batch at which both
parts are equal: below it, company costs less than it brings; beyond it, the throughput
levels off, however many come, while everybody's tokens go on slowing down.

- `step(batch, tokens, seconds)`: seconds of one step, from one row.
- `each(rows)` and `fixed(rows)`: slope and beginning, in seconds, of the straight line
  through the times of a step over the batch, by least squares.
- `knee(rows)`: the batch at the knee, as it comes out, not rounded.

Then put your own rows in place of `SWEEP`, and look at what is printed.

hint: A step serves the whole batch, so there are tokens / batch of them. The slope of
least squares is the sum of (batch - its mean) (time - its mean) over the sum of
(batch - its mean) squared; the line goes through both means.
"""

from stacklib.grading import expect

SWEEP = [
    (1, 64, 0.184),
    (2, 128, 0.176),
    (4, 256, 0.235),
    (8, 512, 0.440),
    (16, 1024, 0.800),
    (32, 2048, 1.131),
]

# ---- your answer ----


def step(batch, tokens, seconds):
    """Seconds of one step, which makes a token for each client."""
    return seconds * batch / tokens


def each(rows):
    """Seconds that one client more adds to a step."""
    batches = [row[0] for row in rows]
    times = [step(*row) for row in rows]
    middle, mean = sum(batches) / len(rows), sum(times) / len(rows)
    pairs = zip(batches, times, strict=True)
    joint = sum((batch - middle) * (time - mean) for batch, time in pairs)
    return joint / sum((batch - middle) ** 2 for batch in batches)


def fixed(rows):
    """Seconds that a step takes whoever is there."""
    slope = each(rows)
    return sum(step(*row) - slope * row[0] for row in rows) / len(rows)


def knee(rows):
    """The batch at which both parts of a step are equal."""
    return fixed(rows) / each(rows)


# ---- tests ----


def made(first, more, noise=(0.0,) * 6, tokens=64):
    """A sweep of a machine whose parts are known, but for a little noise."""
    return [
        (batch, batch * tokens, tokens * (first + more * batch) * (1 + wobble))
        for batch, wobble in zip((1, 2, 4, 8, 16, 32), noise, strict=True)
    ]


NOISY = (0.06, -0.05, 0.03, -0.02, 0.04, -0.01)
SWEEPS = [
    {"rows": SWEEP},
    {"rows": made(2.4e-3, 4.7e-4)},
    {"rows": made(6.3e-3, 2.0e-5, tokens=128)},
    {"rows": made(2.0e-3, 5.0e-4, NOISY)},
    {"rows": made(2.0e-3, 5.0e-4, NOISY)[1:5]},
]
ROWS = [
    dict(zip(("batch", "tokens", "seconds"), row, strict=True))
    for case in SWEEPS
    for row in case["rows"]
]


def points(rows):
    return [(batch, seconds / (tokens / batch)) for batch, tokens, seconds in rows]


def line(rows):
    """Beginning and slope of least squares, by the normal equations."""
    held, n = points(rows), len(rows)
    x, y = (sum(column) for column in zip(*held, strict=True))
    xx, xy = sum(b * b for b, _ in held), sum(b * t for b, t in held)
    slope = (n * xy - x * y) / (n * xx - x * x)
    return (y - slope * x) / n, slope


def by_ends(rows):
    """The line through the first and the last point."""
    (x, y), *_, (last, time) = points(rows)
    slope = (time - y) / (last - x)
    return y - slope * x, slope


def through_zero(rows):
    held = points(rows)
    return sum(b * t for b, t in held) / sum(b * b for b, _ in held)


def fastest(rows):
    return max(rows, key=lambda row: row[1] / row[2])[0]


ENDS = (
    "That line goes through the first and the last point; least squares looks at "
    "all of them."
)


def test_step():
    expect.function_matches(
        step,
        lambda batch, tokens, seconds: seconds / (tokens / batch),
        ROWS,
        unit="s",
        rel=1e-6,
        mistakes={
            "That is seconds over all tokens: a step makes one for each client, so "
            "there are fewer steps.": lambda batch, tokens, seconds: seconds / tokens,
            "That is the throughput: seconds, not tokens a second.": (
                lambda batch, tokens, seconds: tokens / seconds
            ),
        },
    )


def test_each():
    expect.function_matches(
        each,
        lambda rows: line(rows)[1],
        SWEEPS,
        unit="s",
        rel=1e-6,
        mistakes={
            ENDS: lambda rows: by_ends(rows)[1],
            "Your line begins at zero, as if an empty step took no time.": through_zero,
        },
    )


def test_fixed():
    expect.function_matches(
        fixed,
        lambda rows: line(rows)[0],
        SWEEPS,
        unit="s",
        rel=1e-6,
        mistakes={
            ENDS: lambda rows: by_ends(rows)[0],
            "That is the step of the first row, which has clients in it.": (
                lambda rows: points(rows)[0][1]
            ),
        },
    )


def test_knee():
    expect.function_matches(
        knee,
        lambda rows: line(rows)[0] / line(rows)[1],
        SWEEPS,
        rel=1e-6,
        mistakes={
            "That is the batch with the largest throughput, which is the last: the "
            "knee is where the gain begins to fade.": fastest,
            "The other way round: the fixed part over what each adds.": (
                lambda rows: line(rows)[1] / line(rows)[0]
            ),
        },
    )
    mine, begin = expect.read(knee(SWEEP)), expect.read(fixed(SWEEP))
    expect.reading("knee", f"{mine:.1f}", "clients")
    expect.reading("tokens a second there", f"{mine / begin / 2:.0f}")
    expect.reading("tokens a second at most", f"{mine / begin:.0f}")

"""Save often enough.

level: derive

Suppose that a cluster was watched: so many failures in so many days, on so many GPUs,
each of which stopped the whole training. Another cluster of the same kind has another
number of GPUs. A checkpoint holds it up for `saving` seconds, a restart takes `restart`
seconds. Every part fails by itself and at a constant rate.

- `between(failures, days, gpus, larger)`: mean seconds between failures of the other
  cluster.
- `interval(saving, mean)`: Young's interval, the seconds of work between two
  checkpoints that lose least, if failures during a checkpoint are not counted.
- `lost(interval, saving, restart, mean)`: the share that is lost, the sum of three
  terms: checkpoints, work done again, restarts. On average a failure falls in the
  middle of an interval.

hint: rates add, so the mean time falls as one over the number of GPUs. For the
interval, set the derivative of the two terms that depend on it to zero.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def between(failures, days, gpus, larger):
    """Mean seconds between failures of a cluster of `larger` GPUs."""
    rate = failures / (gpus * days * 86400)
    return 1 / (rate * larger)


def interval(saving, mean):
    """Seconds between two checkpoints that lose least."""
    return math.sqrt(2 * saving * mean)


def lost(interval, saving, restart, mean):
    """Share of the time that is lost."""
    return saving / interval + interval / (2 * mean) + restart / mean


# ---- tests ----

WATCHED = (
    {"failures": 419, "days": 54, "gpus": 16384, "larger": 100_000},
    {"failures": 419, "days": 54, "gpus": 16384, "larger": 8},
    {"failures": 12, "days": 30, "gpus": 512, "larger": 2048},
)
CLUSTERS = (
    {"saving": 2.84, "mean": 11135.0},
    {"saving": 30.0, "mean": 1824.0},
    {"saving": 300.0, "mean": 86400.0},
)
RUNS = (
    {"interval": 250.0, "saving": 2.84, "restart": 600.0, "mean": 11135.0},
    {"interval": 3600.0, "saving": 2.84, "restart": 600.0, "mean": 11135.0},
    {"interval": 100.0, "saving": 30.0, "restart": 60.0, "mean": 7200.0},
)


def of_day(failures, days, gpus, larger):
    return days * 86400 / failures * gpus / larger


def test_between():
    expect.function_matches(
        between,
        of_day,
        WATCHED,
        unit="s",
        rel=1e-6,
        mistakes={
            "That is the watched cluster: the other has another number of GPUs.": (
                lambda failures, days, gpus, larger: days * 86400 / failures
            ),
            "A larger cluster fails more often, so its mean time is shorter.": (
                lambda failures, days, gpus, larger: (
                    days * 86400 / failures * larger / gpus
                )
            ),
            "That is in hours; seconds are asked.": (
                lambda failures, days, gpus, larger: (
                    of_day(failures, days, gpus, larger) / 3600
                )
            ),
            "That is the rate; the mean time is one over it.": (
                lambda failures, days, gpus, larger: (
                    1 / of_day(failures, days, gpus, larger)
                )
            ),
        },
    )


def test_interval():
    expect.function_matches(
        interval,
        lambda saving, mean: math.sqrt(2 * saving * mean),
        CLUSTERS,
        unit="s",
        rel=1e-6,
        mistakes={
            "A failure falls in the middle of an interval on average: half of it is "
            "lost, not all.": lambda saving, mean: math.sqrt(saving * mean),
            "You have the square of it.": lambda saving, mean: 2 * saving * mean,
        },
    )


def test_lost():
    expect.function_matches(
        lost,
        lambda interval, saving, restart, mean: (
            saving / interval + interval / (2 * mean) + restart / mean
        ),
        RUNS,
        rel=1e-6,
        mistakes={
            "Restarts are missing.": lambda interval, saving, restart, mean: (
                saving / interval + interval / (2 * mean)
            ),
            "On average half an interval is done again, not all of it.": (
                lambda interval, saving, restart, mean: (
                    saving / interval + interval / mean + restart / mean
                )
            ),
            "A restart comes with each failure, not with each checkpoint.": (
                lambda interval, saving, restart, mean: (
                    (saving + restart) / interval + interval / (2 * mean)
                )
            ),
        },
    )
    share = expect.call(lost, RUNS[0])
    expect.reading("of the time is lost with a checkpoint every 250 s", share)

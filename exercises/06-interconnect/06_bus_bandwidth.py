"""Read a log of nccl-tests.

level: derive
project: P6.1

Below stand two logs in the format of nccl-tests. Suppose eight GPUs of 450 GB/s in one
direction. The logs' numbers were computed by this book's model and not measured, and in
each log the bus bandwidth of one row was changed afterwards.

A row has size in bytes, count, type, redop, root, and then time in us, algbw, busbw
and errors, first out of place and then again in place. Lines that begin with # are
words.

The size is that of a rank's whole array: what all-reduce adds up, what all-gather has
gathered in the end, what reduce-scatter starts from, what all-to-all sends in all, a
rank's part for itself included. `algbw` is size over time. `busbw` is what each link
would have to carry *if no switch added anything*: algbw times a factor which makes it
the same for any number of ranks.

- `factor(collective, ranks)`: that factor, for `all_reduce`, `reduce_scatter`,
  `all_gather`, `alltoall` and `broadcast`. A rank keeps its own part.
- `rows(log)`: a list of (size in bytes, time in us, printed busbw), out of place.
- `bus(size, us, collective, ranks)`: busbw in GB/s, not in GiB/s.
- `changed(log, collective, ranks)`: the size of the row whose printed busbw does not
  follow from its size and time.
- `adds(log, collective, ranks, link)`: whether busbw, as it follows from size and
  time, passes `link` GB/s anywhere, so that something on the way must have added.

hint: Around a ring an all-reduce is a reduce-scatter and then an all-gather. How much
of the array does each rank send in each of them, on two ranks, and on very many?
"""

from stacklib.grading import expect

ALL_REDUCE = """\
# nccl-tests' format; computed by a model of eight H100, not measured
#                                                  out-of-place                in-place
#       size       count  type redop root     time   algbw   busbw #wrong     time ...
#        (B)  (elements)                      (us)  (GB/s)  (GB/s)            (us) ...
        8192        2048 float   sum   -1     15.1    0.54    0.95     0    15.55    0.53    0.92     0
      131072       32768 float   sum   -1    16.63    7.88   13.79     0    17.13    7.65   13.39     0
     2097152      524288 float   sum   -1    41.72   50.27   87.97     0    42.97   48.81   85.41     0
    33554432     8388608 float   sum   -1   184.39  181.98  341.20     0   189.93  176.67  309.17     0
   536870912   134217728 float   sum   -1   2142.9  250.53  438.44     0   2207.2  243.24  425.66     0
  8589934592  2147483648 float   sum   -1  32182.1  266.92  467.10     0  33147.6  259.14  453.50     0
# Out of bounds values : 0 OK
"""  # noqa: E501
ALL_GATHER = """\
# nccl-tests' format; computed by a model of eight H100, not measured
#       size       count  type redop root     time   algbw   busbw #wrong     time ...
        8192         256 float  none   -1    10.85    0.76    0.66     0    11.18    0.73    0.64     0
      131072        4096 float  none   -1    11.61   11.29   11.29     0    11.96   10.96    9.59     0
     2097152       65536 float  none   -1    23.81   88.08   77.07     0    24.53   85.49   74.81     0
    33554432     1048576 float  none   -1   143.05  234.56  205.24     0   147.34  227.73  199.27     0
   536870912    16777216 float  none   -1   1454.3  369.16  323.02     0   1497.9  358.42  313.61     0
"""  # noqa: E501

# ---- your answer ----


def factor(collective, ranks):
    """Bytes that a link carries without adding switches, over the size."""
    if collective == "broadcast":
        return 1.0
    times = 2 if collective == "all_reduce" else 1
    return times * (ranks - 1) / ranks


def rows(log):
    """Size, time and printed bus bandwidth of each row, out of place."""
    found = []
    for line in log.splitlines():
        if line.strip() and not line.startswith("#"):
            cells = line.split()
            found.append((int(cells[0]), float(cells[5]), float(cells[7])))
    return found


def bus(size, us, collective, ranks):
    """Bus bandwidth in GB/s."""
    return size / us / 1e3 * factor(collective, ranks)


def changed(log, collective, ranks):
    """The size of the row that is wrong."""
    return max(
        rows(log), key=lambda r: abs(r[2] / bus(r[0], r[1], collective, ranks) - 1)
    )[0]


def adds(log, collective, ranks, link):
    """Whether a switch must have added."""
    return any(bus(size, us, collective, ranks) > link for size, us, _ in rows(log))


# ---- tests ----

RANKS = (2, 4, 8, 72)
KINDS = ("all_reduce", "reduce_scatter", "all_gather", "alltoall", "broadcast")
LOGS = {"all_reduce": ALL_REDUCE, "all_gather": ALL_GATHER}
PLANTED = {"all_reduce": 1 << 25, "all_gather": 1 << 17}


def sent(collective, ranks):
    """Parts that a rank sends, counted as messages of one n-th of the array."""
    if collective == "broadcast":
        return 1.0
    others = [r for r in range(ranks) if r]
    rounds = {"all_reduce": 2}.get(collective, 1)
    return rounds * len(others) / ranks


CASES = [{"collective": kind, "ranks": ranks} for kind in KINDS for ranks in RANKS]


def test_factor():
    expect.function_matches(
        factor,
        sent,
        CASES,
        rel=1e-9,
        mistakes={
            "An all-reduce goes round twice: to add, and to spread the sum.": (
                lambda collective, ranks: (
                    min(sent(collective, ranks), 1.0)
                    if collective == "broadcast"
                    else (ranks - 1) / ranks
                )
            ),
            "A rank keeps its own part; it does not send the whole array.": (
                lambda collective, ranks: 2.0 if collective == "all_reduce" else 1.0
            ),
            "Only an all-reduce goes round twice.": (
                lambda collective, ranks: (
                    1.0 if collective == "broadcast" else 2 * (ranks - 1) / ranks
                )
            ),
            "In a broadcast the whole array passes each link.": (
                lambda collective, ranks: (
                    (2 if collective == "all_reduce" else 1) * (ranks - 1) / ranks
                )
            ),
        },
    )


def test_rows():
    for kind, log in LOGS.items():
        lines = [x.split() for x in log.splitlines() if x[0] != "#"]
        right = [(int(x[0]), float(x[5]), float(x[7])) for x in lines]
        slips = {
            "These are times in place; out of place comes first.": [
                (int(x[0]), float(x[9]), float(x[11])) for x in lines
            ],
            "The third number is algbw; busbw stands after it.": [
                (int(x[0]), float(x[5]), float(x[6])) for x in lines
            ],
            "The first column is the size in bytes, the second a count.": [
                (int(x[1]), float(x[5]), float(x[7])) for x in lines
            ],
        }
        mine = [tuple(map(float, row)) for row in rows(log)]
        if mine == right:
            continue
        for text, slip in slips.items():
            if mine == slip:
                raise expect.Mistake(f"{kind}: {text}")
        raise expect.Mistake(f"{kind}: {len(mine)} rows, first {mine[:1]}")


def test_bus():
    cases = [
        {"size": size, "us": us, "collective": kind, "ranks": ranks}
        for size, us in ((1 << 20, 30.0), (1 << 30, 4000.0))
        for kind in KINDS
        for ranks in RANKS
    ]

    def right(size, us, collective, ranks):
        return size * 1e-3 / us * sent(collective, ranks)

    expect.function_matches(
        bus,
        right,
        cases,
        unit="GB/s",
        rel=1e-6,
        mistakes={
            "A GB is 1e9 bytes, not two to the thirty.": (
                lambda **case: right(**case) * 1e9 / 2**30
            ),
            "That is algbw: the factor is missing.": (
                lambda size, us, collective, ranks: size * 1e-3 / us
            ),
        },
    )


def test_changed():
    for kind, log in LOGS.items():
        found = changed(log, kind, 8)
        if found == PLANTED[kind]:
            continue
        if found == max(rows(log), key=lambda row: row[2])[0]:
            raise expect.Mistake(
                f"{kind}: the largest busbw is no fault by itself; work each one out"
            )
        raise expect.Mistake(
            f"{kind}: the row of {found} B follows from size and time, but for its "
            "last digit, which is rounded; another does not"
        )
    expect.reading("planted in all-reduce", "the factor of sixteen ranks")
    expect.reading("planted in all-gather", "no factor at all")


def test_adds():
    cases = [(kind, link) for kind in LOGS for link in (250.0, 300.0, 450.0, 480.0)]
    mine, right, plain = [], [], []
    for kind, link in cases:
        mine.append(bool(adds(LOGS[kind], kind, 8, link)))
        most = max(size * 1e-3 / us for size, us, _ in rows(LOGS[kind]))
        right.append(most * sent(kind, 8) > link)
        plain.append(most > link)
    if mine == plain != right:
        raise expect.Mistake("That is algbw; a link is held to bus bandwidth.")
    for case, said, true in zip(cases, mine, right, strict=True):
        if said != true:
            word = "passes" if true else "stays below"
            raise expect.Mistake(f"{case[0]}: bus bandwidth {word} {case[1]:g} GB/s")

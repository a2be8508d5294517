"""Read a machine.

level: build
project: P6.5

`nvidia-smi topo -m` prints a matrix: which way each pair of devices has. NV and a
number are so many NVLinks. Of the rest, PIX (one PCIe switch) and PXB (several) stay
below the processor; PHB, NODE and SYS go through its root complex. Columns after the
devices are cores and memory. The samples below were written for this exercise.

- `way(text, one, other)`: what stands for two devices, such as `NV4` or `SYS`.
- `across(text)`: the pairs of GPUs whose way crosses the root complex, as a list of
  (one, other) in the order of the first line.
- `islands(text)`: the GPUs that NVLinks join, directly or over other GPUs, as a list of
  tuples, in the order of the first line.
- `takes(text, size)`: `ring ll`, `ring simple` or `switches`, whatever takes least for
  an all-reduce of `size` bytes over all N GPUs. As in NCCL's model, suppose that

  - a ring has 2(N - 1) steps; suppose a base of 6.6 us for LL and of 8.4 us for Simple;
  - all GPUs in one island: the ring runs on NVLink; suppose a step of 0.6 us with LL
    and 3.4 with Simple, and 20 GB/s for each of a GPU's NVLinks *in all*. Where every
    pair shows the same number and there are more than two GPUs, that number is the
    same links to a switch, and counts once;
  - more than one island: the ring runs on PCIe; suppose 1.0 and 5.7 us, 24 GB/s;
  - the array moves at that rate times N / (2(N - 1)), with LL at that over 2;
  - where every pair shows NV18, the switches can add: suppose 25 us, and what a GPU
    sends times 0.75.

hint: Split the lines. The first has names only, so its first word stands over the
second word of each other line.
"""

from stacklib.grading import expect

BOARD = """\
        GPU0    GPU1    GPU2    GPU3    NIC0    CPU Affinity    NUMA Affinity
GPU0     X      NV18    NV18    NV18    PIX     0-31            0
GPU1    NV18     X      NV18    NV18    NODE    0-31            0
GPU2    NV18    NV18     X      NV18    SYS     32-63           1
GPU3    NV18    NV18    NV18     X      SYS     32-63           1
NIC0    PIX     NODE    SYS     SYS      X
"""
BRIDGED = """\
        GPU0    GPU1    GPU2    GPU3    NIC0    CPU Affinity    NUMA Affinity
GPU0     X      NV12    PXB     SYS     PHB     0-31            0
GPU1    NV12     X      NODE    SYS     PHB     0-31            0
GPU2    PXB     NODE     X      NV12    SYS     32-63           1
GPU3    SYS     SYS     NV12     X      SYS     32-63           1
NIC0    PHB     PHB     SYS     SYS      X
"""
CHAIN = """\
        GPU0    GPU1    GPU2    CPU Affinity
GPU0     X      NV2     PHB     0-15
GPU1    NV2      X      NV1     0-15
GPU2    PHB     NV1      X      0-15
"""

# ---- your answer ----


def matrix(text):
    """Devices, and what stands for each pair."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    names = [row[0] for row in lines[1:]]
    table = {
        (row[0], other): cell
        for row in lines[1:]
        for other, cell in zip(names, row[1:], strict=False)
    }
    return names, table


def way(text, one, other):
    """What stands for two devices."""
    return matrix(text)[1][one, other]


def gpus(text):
    """The GPUs in order."""
    return [name for name in matrix(text)[0] if name.startswith("GPU")]


def across(text):
    """Pairs of GPUs that cross the root complex."""
    names, table = gpus(text), matrix(text)[1]
    return [
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if table[a, b] in ("PHB", "NODE", "SYS")
    ]


def islands(text):
    """GPUs that NVLinks join."""
    names, table = gpus(text), matrix(text)[1]
    left, found = list(names), []
    while left:
        group, edge = [left[0]], [left[0]]
        while edge:
            one = edge.pop()
            new = [n for n in names if n not in group and table[one, n][:2] == "NV"]
            group += new
            edge += new
        found.append(tuple(n for n in names if n in group))
        left = [n for n in left if n not in group]
    return found


def takes(text, size):
    """The candidate that takes least."""
    names, table = gpus(text), matrix(text)[1]
    n, first = len(names), names[0]
    joined = len(islands(text)) == 1
    counts = [
        sum(int(table[a, b][2:]) for b in names if b != a and table[a, b][:2] == "NV")
        for a in names
    ]
    every = {table[a, b] for a in names for b in names if a != b}
    rate, hops = 24e3, (1.0, 5.7)
    if joined:
        same = len(every) == 1 and n > 2
        links = int(table[first, names[1]][2:]) if same else min(counts)
        rate, hops = 20e3 * links, (0.6, 3.4)
    moves = rate * n / (2 * (n - 1))
    times = {
        "ring ll": 6.6 + 2 * (n - 1) * hops[0] + size / (moves / 2),
        "ring simple": 8.4 + 2 * (n - 1) * hops[1] + size / moves,
    }
    if every == {"NV18"}:
        times["switches"] = 25 + size / (1.5 * rate / 2)
    return min(times, key=times.get)


# ---- tests ----

SAMPLES = {"board": BOARD, "bridged": BRIDGED, "chain": CHAIN}
ACROSS = {
    "board": [],
    "bridged": [
        ("GPU0", "GPU3"),
        ("GPU1", "GPU2"),
        ("GPU1", "GPU3"),
    ],
    "chain": [("GPU0", "GPU2")],
}
ISLANDS = {
    "board": [("GPU0", "GPU1", "GPU2", "GPU3")],
    "bridged": [("GPU0", "GPU1"), ("GPU2", "GPU3")],
    "chain": [("GPU0", "GPU1", "GPU2")],
}
# By hand: GPUs, what one sends in bytes a us, steps with LL and Simple, switches.
HAND = {
    "board": (4, 360e3, 0.6, 3.4, True),
    "bridged": (4, 24e3, 1.0, 5.7, False),
    "chain": (3, 20e3, 0.6, 3.4, False),
}
SIZES = tuple(2**power for power in range(8, 31))


def least(sample, size, half=True, switches=True, times=1):
    n, rate, ll, simple, adds = HAND[sample]
    rate *= times if sample == "board" else 1
    moves, steps = rate * n / (2 * (n - 1)), 2 * (n - 1)
    took = {
        "ring ll": 6.6 + steps * ll + size / moves * (2 if half else 1),
        "ring simple": 8.4 + steps * simple + size / moves,
    }
    if adds and switches:
        took["switches"] = 25 + size / (0.75 * rate)
    return min(took, key=took.get)


def test_way():
    for sample, one, other, right in (
        ("board", "GPU0", "GPU3", "NV18"),
        ("bridged", "GPU1", "GPU2", "NODE"),
        ("bridged", "NIC0", "GPU1", "PHB"),
        ("chain", "GPU2", "GPU1", "NV1"),
    ):
        mine = expect.call(way, {"text": SAMPLES[sample], "one": one, "other": other})
        if mine != right:
            raise expect.Mistake(
                f"{sample}, {one} to {other}: {mine!r}; does the first name of the "
                "first line stand over the device's own name?"
            )


def pairs(value):
    return sorted(tuple(sorted(pair)) for pair in value)


def test_across():
    for sample, right in ACROSS.items():
        mine = pairs(across(SAMPLES[sample]))
        if mine == pairs(right):
            continue
        extra = [pair for pair in mine if pair not in right]
        if any("NIC" in name for pair in extra for name in pair):
            raise expect.Mistake(f"{sample}: only pairs of GPUs are asked, no card.")
        if ("GPU0", "GPU2") in extra and sample == "bridged":
            raise expect.Mistake(f"{sample}: PXB stays below the root complex.")
        missing = [pair for pair in right if pair not in mine]
        raise expect.Mistake(
            f"{sample}: {missing or extra}: PHB, NODE and SYS cross, not SYS alone."
        )


def test_islands():
    for sample, right in ISLANDS.items():
        mine = sorted(tuple(sorted(group)) for group in islands(SAMPLES[sample]))
        if mine == sorted(right):
            continue
        if sample == "chain" and len(mine) == 2:
            raise expect.Mistake("chain: GPU0 reaches GPU2 over GPU1, by NVLinks.")
        raise expect.Mistake(f"{sample}: {mine}; which GPUs do NVLinks join?")


def test_takes():
    failed = []
    for sample in SAMPLES:
        for size in SIZES:
            mine = takes(SAMPLES[sample], size)
            if mine != least(sample, size):
                failed.append((sample, size, mine))
    if not failed:
        return
    slips = {
        "The same NVLinks to each of three are eighteen to a switch, and no more.": {
            "times": 3
        },
        "LL moves half: the other half are flags.": {"half": False},
        "Where every pair shows NV18 the switches are a candidate.": {
            "switches": False
        },
    }
    for text, slip in slips.items():
        if all(least(s, size, **slip) == mine for s, size, mine in failed):
            raise expect.Mistake(text)
    sample, size, mine = failed[0]
    raise expect.Mistake(f"{sample}, {size} B: {mine!r} is not the least")

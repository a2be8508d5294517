"""What does a pasted machine say of its links, and how long is an all-reduce over them?

level: build
project: P9.2

`nvidia-smi --query-gpu=... --format=csv` prints a header, here `name,
pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, utilization.gpu [%]`,
and a line for each card, such as `NVIDIA GeForce RTX 3090, 1, 4, 4, 0 %`. Suppose a
lane of PCIe 1 to 5 carries `.25`, `.5`, `.985`, `1.969` and `3.938` GB/s, one way. At
rest, when a card is busy for less than `50 %` of the time, a link trains down: then its
highest generation counts. Lanes always count.

- `narrowest(text)`: GB/s of the slowest slot, whatever the order of the columns.
- `all_reduce_ms(cards, megabytes, slot, share)`: milliseconds on a ring that gets
  `share` of the slowest slot.
- `bus(cards, megabytes, ms)`: GB/s of bus bandwidth of a line of nccl-tests.

Refuse text without those columns. Suppose a log of four RTX 4090 through host memory
has `18` GB/s of bus bandwidth (NVIDIA/nccl, issue 1603): which `share` of a full slot
of PCIe 4 is that? Then run `stacklib rig` on your machine.

hint: The first line names the columns. A ring sends 2 (n - 1) / n of the bytes over
each link, and waits for the slowest.
"""

import csv

from stacklib.grading import expect

# ---- your answer ----

LANE = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938}
GEN, MOST = "pcie.link.gen.current", "pcie.link.gen.max"
LANES, BUSY = "pcie.link.width.current", "utilization.gpu [%]"


def narrowest(text):
    """GB/s of the slowest slot."""
    head, *rows = csv.reader(text.strip().split("\n"), skipinitialspace=True)
    if not {GEN, MOST, LANES, BUSY} <= set(head):
        raise ValueError(f"{head}: no header of nvidia-smi with links and load")
    slots = []
    for row in rows:
        card = dict(zip(head, row, strict=True))
        busy = float(card[BUSY].split()[0]) >= 50
        slots.append(LANE[int(card[GEN if busy else MOST])] * int(card[LANES]))
    return min(slots)


def all_reduce_ms(cards, megabytes, slot, share):
    """Milliseconds on a ring."""
    return 2 * (cards - 1) / cards * megabytes / (slot * share)


def bus(cards, megabytes, ms):
    """GB/s of bus bandwidth."""
    return 2 * (cards - 1) / cards * megabytes / ms


# ---- tests ----

ROWS = [(4, 4, 16, 97), (1, 4, 8, 3), (3, 4, 8, 99), (4, 4, 4, 95), (5, 5, 8, 50)]
ORDERS = [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)]


def pasted(rows, order):
    """A text of the command with its columns in some order."""
    names, units = (GEN, MOST, LANES, BUSY), ("", "", "", " %")
    lines = [["name", *(names[i] for i in order)]]
    lines += [["RTX 3090", *(f"{row[i]}{units[i]}" for i in order)] for row in rows]
    return "\n".join(", ".join(line) for line in lines)


TEXTS = {
    pasted(rows, order): rows
    for rows in (ROWS, ROWS[:2], ROWS[:3], ROWS[1:3], ROWS[4:])
    for order in ORDERS
}


def read(text, rest=True, now=True, of=min):
    """The slots of the rows that the text was made of."""
    made, slots = (0.25, 0.5, 0.985, 1.969, 3.938), []
    for gen, most, lanes, busy in TEXTS[text]:
        idle = busy < 50 and rest
        slots.append(made[(most if idle or not now else gen) - 1] * lanes)
    return of(slots)


def test_narrowest():
    cases = [{"text": text} for text in TEXTS]
    told = {
        "At rest a link trains down: its highest generation counts.": (
            lambda text: read(text, rest=False)
        ),
        "Under load the generation that is in use counts.": (
            lambda text: read(text, now=False)
        ),
        "A ring waits for its slowest link.": lambda text: read(text, of=max),
    }
    expect.function_matches(
        narrowest, read, cases, unit="GB/s", rel=1e-9, mistakes=told
    )


def test_all_reduce():
    def right(cards, megabytes, slot, share):
        return sum(megabytes / cards / share / slot for _ in range(2 * (cards - 1)))

    cases = [
        {"cards": n, "megabytes": size, "slot": slot, "share": 0.5}
        for n in (2, 4, 8)
        for size, slot in ((67.1, 31.5), (0.016, 7.9))
    ]
    told = {
        "Sums go around, and results go around again.": (
            lambda cards, megabytes, slot, share: (
                (cards - 1) / cards * megabytes / (slot * share)
            )
        ),
    }
    expect.function_matches(
        all_reduce_ms, right, cases, unit="ms", rel=1e-6, mistakes=told
    )
    expect.reading("an exchange of a prompt, ms", all_reduce_ms(4, 67.1, 7.9, 0.5))


def test_bus():
    def right(cards, megabytes, ms):
        return megabytes / ms * (2 - 2 / cards)

    cases = [{"cards": n, "megabytes": 268, "ms": t} for n in (4, 8) for t in (15, 30)]
    told = {
        "That is the algorithm's bandwidth: bytes over time.": (
            lambda cards, megabytes, ms: megabytes / ms
        ),
    }
    expect.function_matches(bus, right, cases, unit="GB/s", rel=1e-9, mistakes=told)


def test_other_text_is_refused():
    expect.refuses(
        narrowest,
        {"text": "ROCm System Management Interface\nGPU[0]: x16"},
        because="it has none of the columns",
    )

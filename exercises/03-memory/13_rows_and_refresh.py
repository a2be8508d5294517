"""What rows and refreshes leave of a memory's pins.

level: derive

A DRAM channel has a data bus and banks. A burst holds the bus for `burst` ns. A bank
opens a row at most once a row cycle, `rc` ns. Any two activates of the channel are at
least `rrd` ns apart, and any four of them do not fit in a window shorter than `faw`
ns. A refresh stops all banks for `rfc` ns and is due every `refi` ns. All times are
arguments, in ns.

- `refresh_share(rfc, refi)`: share of the time that refreshes take.
- `random_share(burst, rc, banks, rrd, faw)`: share of the peak left when every burst
  opens a row of its own, spread evenly over so many banks, with a queue that is never
  empty. Leave refreshes out.
- `stream_share(rfc, refi, rtp, rp, rcd, burst)`: share that an endless sequential read
  keeps. Before a refresh its last read has to wait `rtp` until rows may be closed, and
  `rp` until they are; after it, `rcd` passes from the first activate to the first
  read. Without a refresh, that read would have come one burst later.

hint: For random rows find how long it takes, at least, from one burst to the next: the
bus, the banks, two activates, and four of them all have a say, and the slowest wins.
Four activates share a window of tFAW.
"""

from stacklib.grading import expect
from stacklib.memory.dram import rates as dram

# ---- your answer ----


def refresh_share(rfc, refi):
    """Share of the time in refresh."""
    return rfc / refi


def random_share(burst, rc, banks, rrd, faw):
    """Share of the peak when each burst opens a row."""
    return burst / max(burst, rc / banks, rrd, faw / 4)


def stream_share(rfc, refi, rtp, rp, rcd, burst):
    """Share of the peak that a sequential read keeps."""
    return 1 - (rtp + rp + rfc + rcd - burst) / refi


# ---- tests ----

REFRESHES = [{"rfc": a, "refi": b} for a, b in ((350, 7800), (295, 3900), (120, 1900))]
ROWS = [
    {"burst": b, "rc": 46.0, "banks": n, "rrd": r, "faw": f}
    for b, r, f in (
        *((2.5, 2.5, 21.25), (2.5, 2.5, 10.0), (1.25, 5.0, 15.0)),
        (5.0, 2.5, 10.0),  # bursts so long that only the bus waits
    )
    for n in (1, 2, 16, 32)
]
STREAMS = [
    {"rfc": 350, "refi": 7800, "rtp": 7.5, "rp": 13.75, "rcd": 13.75, "burst": 2.5},
    {"rfc": 295, "refi": 3900, "rtp": 7.5, "rp": 14.2, "rcd": 14.2, "burst": 3.33},
    {"rfc": 350, "refi": 3900, "rtp": 3.75, "rp": 16.25, "rcd": 16.25, "burst": 1.25},
]


def reference(burst, rc, banks, rrd, faw):
    return burst / dram.random_interval(burst, rc, banks, rrd, faw)


def test_refresh_share():
    expect.function_matches(
        refresh_share,
        lambda rfc, refi: rfc / refi,
        REFRESHES,
        rel=1e-3,
        mistakes={
            "That is what is left; the share that refreshes take is asked for.": (
                lambda rfc, refi: 1 - rfc / refi
            ),
            "refi is from one refresh to the next: it holds the refresh already.": (
                lambda rfc, refi: rfc / (rfc + refi)
            ),
        },
    )


def test_random_share():
    expect.function_matches(
        random_share,
        reference,
        ROWS,
        rel=1e-3,
        mistakes={
            "The banks alone do not decide: activates keep a distance as well, and "
            "four of them a window.": (
                lambda burst, rc, banks, rrd, faw: burst / max(burst, rc / banks)
            ),
            "Four activates fit in tFAW, so each costs a quarter of it, not all.": (
                lambda burst, rc, banks, rrd, faw: (
                    burst / max(burst, rc / banks, rrd, faw)
                )
            ),
            "The waits of a bank, of two activates and of four go on at the same "
            "time: the slowest counts, not the sum.": (
                lambda burst, rc, banks, rrd, faw: (
                    burst / (burst + rc / banks + rrd + faw / 4)
                )
            ),
            "Above 1: the bus itself is a limit too.": (
                lambda burst, rc, banks, rrd, faw: burst / max(rc / banks, rrd, faw / 4)
            ),
        },
    )


def test_stream_share():
    expect.function_matches(
        stream_share,
        lambda rfc, refi, rtp, rp, rcd, burst: (
            1 - (rtp + rp + rfc + rcd - burst) / refi
        ),
        STREAMS,
        rel=5e-4,
        mistakes={
            "Rows are closed before a refresh and opened after it: more is lost than "
            "tRFC.": lambda rfc, refi, **_: 1 - rfc / refi,
            "Rows are closed before a refresh too: tRTP and tRP are missing.": (
                lambda rfc, refi, rtp, rp, rcd, burst: 1 - (rfc + rcd - burst) / refi
            ),
        },
    )

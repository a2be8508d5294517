# ---- played: bursts one after another, and a timeline between two refreshes
def refresh_share(rfc, refi):
    day = 1e9
    return day / refi * rfc / day


def random_share(burst, rc, banks, rrd, faw):
    opened, bus = [], 0.0
    for i in range(4000):
        earliest = opened[-1] + rrd if opened else 0.0
        if i >= banks:
            earliest = max(earliest, opened[i - banks] + rc)
        if i >= 4:
            earliest = max(earliest, opened[i - 4] + faw)
        # The bus holds no more than it can move: a queue waits before the banks.
        earliest = max(earliest, bus)
        opened.append(earliest)
        bus = earliest + burst
    return burst * 3000 / (opened[-1] - opened[-3001])


def stream_share(rfc, refi, rtp, rp, rcd, burst):
    stopped = rtp + rp + rfc + rcd
    reading = refi - stopped
    return (reading + burst) / refi


# ---- slowest: rates of each limit, and the least of them
from fractions import Fraction


def refresh_share(rfc, refi):
    return Fraction(rfc) / Fraction(refi)


def random_share(burst, rc, banks, rrd, faw):
    rates = [1 / burst, banks / rc, 1 / rrd, 4 / faw]
    return burst * sorted(rates)[0]


def stream_share(rfc, refi, rtp, rp, rcd, burst):
    lost = sum(map(Fraction, (rtp, rp, rfc, rcd))) - Fraction(burst)
    return 1 - lost / Fraction(refi)

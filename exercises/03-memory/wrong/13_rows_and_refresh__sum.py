# diagnosis: the slowest counts, not the sum
def refresh_share(rfc, refi):
    return rfc / refi


def random_share(burst, rc, banks, rrd, faw):
    return burst / (burst + rc / banks + rrd + faw / 4)


def stream_share(rfc, refi, rtp, rp, rcd, burst):
    return 1 - (rtp + rp + rfc + rcd - burst) / refi

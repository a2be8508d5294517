# diagnosis: Four activates fit in tFAW
def refresh_share(rfc, refi):
    return rfc / refi


def random_share(burst, rc, banks, rrd, faw):
    return burst / max(burst, rc / banks, rrd, faw)


def stream_share(rfc, refi, rtp, rp, rcd, burst):
    return 1 - (rtp + rp + rfc + rcd - burst) / refi

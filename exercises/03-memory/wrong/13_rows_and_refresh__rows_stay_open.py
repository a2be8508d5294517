# diagnosis: Rows are closed before a refresh and opened after it
def refresh_share(rfc, refi):
    return rfc / refi


def random_share(burst, rc, banks, rrd, faw):
    return burst / max(burst, rc / banks, rrd, faw / 4)


def stream_share(rfc, refi, rtp, rp, rcd, burst):
    return 1 - rfc / refi

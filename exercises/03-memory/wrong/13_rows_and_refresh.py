# ---- added_twice: it holds the refresh already
def refresh_share(rfc, refi):
    return rfc / (rfc + refi)


# ---- banks_only: The banks alone do not decide
def random_share(burst, rc, banks, rrd, faw):
    return burst / max(burst, rc / banks)


# ---- rows_stay_open: Rows are closed before a refresh and opened after it
def stream_share(rfc, refi, rtp, rp, rcd, burst):
    return 1 - rfc / refi


# ---- sum: the slowest counts, not the sum
def random_share(burst, rc, banks, rrd, faw):
    return burst / (burst + rc / banks + rrd + faw / 4)


# ---- whole_window: Four activates fit in tFAW
def random_share(burst, rc, banks, rrd, faw):
    return burst / max(burst, rc / banks, rrd, faw)

# ---- in_bytes: bytes a second on both sides
def gain(page, column, access, banks, pace, row):
    outside = column / access
    inside = banks * page / (page * pace / outside + row)
    return inside / outside


# ---- by_trying: one batch after the other
def loses(gain):
    if not 0 < gain < float("inf"):
        raise ValueError(gain)
    return next(batch for batch in range(1, 10**6) if gain / batch <= 1)

# ---- by_months: each month at its own rate
def by_packaging(begin, end, share, fit, works):
    step = (end - begin) / 12
    made = 0.0
    for month in range(12):
        made += (begin + step * month + step / 2) * fit * share
    return made * works


# ---- by_servers: whole watts for a server, then its eight
def fed(watts, pue, server):
    if pue < 1:
        raise ValueError(f"no meter shows less than its servers: {pue}")
    return int(8 * watts / (pue * server))

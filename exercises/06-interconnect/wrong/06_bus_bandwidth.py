# ---- once: An all-reduce goes round twice
def factor(collective, ranks):
    return 1.0 if collective == "broadcast" else (ranks - 1) / ranks


# ---- whole: A rank keeps its own part
def factor(collective, ranks):
    return 2.0 if collective == "all_reduce" else 1.0


# ---- in_place: These are times in place
def rows(log):
    lines = [x.split() for x in log.splitlines() if x.strip() and x[0] != "#"]
    return [(int(x[0]), float(x[9]), float(x[11])) for x in lines]


# ---- binary: A GB is 1e9 bytes
def bus(size, us, collective, ranks):
    return size / 2**30 / (us * 1e-6) * factor(collective, ranks)


# ---- largest: the largest busbw is no fault by itself
def changed(log, collective, ranks):
    return max(rows(log), key=lambda row: row[2])[0]


# ---- algbw: That is algbw; a link is held to bus bandwidth
def adds(log, collective, ranks, link):
    return any(size / us / 1e3 > link for size, us, _ in rows(log))

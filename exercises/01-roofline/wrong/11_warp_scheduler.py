# ---- a_cycle_late: yours comes a cycle late
def cycles(warps, work, latency, rounds):
    free, at = [0] * warps, [0] * warps
    now, last, length = 0, None, rounds * (1 + work)
    while True:
        left = [w for w in range(warps) if at[w] < length]
        if not left:
            return now
        now = max(now, min(free[w] for w in left))
        ready = [w for w in left if free[w] <= now]
        last = min(ready, key=lambda w: (w != last, free[w], w))
        is_load = at[last] % (1 + work) == 0
        free[last] = now + 1 + (latency if is_load else 0)
        at[last] += 1
        now += 1


# ---- load_is_free: The load takes a slot too
def warps_needed(work, latency):
    return (latency + work) / work


def cycles(warps, work, latency, rounds):
    return rounds * max(latency + work, warps * (1 + work))


# ---- one_by_one: Your warps run one after the other
def cycles(warps, work, latency, rounds):
    return warps * rounds * (latency + work)


# ---- short_round: While a warp works the round goes on
def warps_needed(work, latency):
    return latency / (1 + work)


def cycles(warps, work, latency, rounds):
    return rounds * max(latency + work, warps * (1 + work))


# ---- turns: Your warps take turns, and so wait together.
def cycles(warps, work, latency, rounds):
    free, at = [0] * warps, [0] * warps
    now, last, length = 0, -1, rounds * (1 + work)
    while True:
        left = [w for w in range(warps) if at[w] < length]
        if not left:
            return now
        now = max(now, min(free[w] for w in left))
        ready = [w for w in left if free[w] <= now]
        last = min(ready, key=lambda w: (w <= last, w))
        is_load = at[last] % (1 + work) == 0
        free[last] = now + (latency if is_load else 1)
        at[last] += 1
        now += 1

# diagnosis: Your warps take turns, and so wait together.
def warps_needed(work, latency):
    return (latency + work) / (1 + work)


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

# ---- by_tries: shares and clocks in small steps
def core_share(clocks, speeds):
    def off(core):
        whole = [1 - core + core * TOP / c for c in clocks]
        seen = [1 / s for s in speeds]
        scale = sum(w * y for w, y in zip(whole, seen, strict=True))
        scale /= sum(w * w for w in whole)
        return sum((scale * w - y) ** 2 for w, y in zip(whole, seen, strict=True))

    low, high = 0.0, 1.0
    for _ in range(200):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if off(a) < off(b) else (a, high)
    return low


# ---- from_the_floor: its two branches solved one after the other
def speed(limit, idle, wanted, core):
    if not idle < limit < math.inf:
        raise ValueError(f"limit = {limit!r} W")
    if limit >= wanted:
        return 1.0
    flat = (limit - idle) / (wanted - idle) * volts(TOP) ** 2
    if flat <= rate(FLOOR, core):
        return flat
    low, high = FLOOR, TOP
    while high - low > 1e-9:
        clock = (low + high) / 2
        over = rate(clock, core) * volts(clock) ** 2 > flat
        low, high = (low, clock) if over else (clock, high)
    return rate(low, core)

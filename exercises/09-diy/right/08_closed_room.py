# ---- by_halves: each step a solved one, backward in time
def warmed(resistances, capacities, watts, outside, hours):
    n, steps = len(resistances), 6000
    dt, at = hours * 3600 / steps, [outside] * len(resistances)
    for _ in range(steps):
        # Of each part from the first: what it is in terms of the next.
        slope, height, come = [], [], None
        for i, (r, c) in enumerate(zip(resistances, capacities, strict=True)):
            own = c / dt + 1 / r
            given = c / dt * at[i]
            if come is None:
                given += watts
            else:
                own += (1 - slope[-1]) / come
                given += height[-1] / come
            slope.append(1 / r / own)
            height.append(given / own)
            come = r
        now = outside
        for i in reversed(range(n)):
            now = slope[i] * now + height[i]
            at[i] = now
    return at


# ---- inward: a part after the other, from the outside
def settled(resistances, watts, outside):
    found = []
    for r in reversed(resistances):
        outside += watts * r
        found.insert(0, outside)
    return found

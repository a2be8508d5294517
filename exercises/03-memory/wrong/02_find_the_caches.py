# ---- all_or_nothing: the other sets still hit
def settled_hits(order, sets, ways):
    return len(order) if len(order) <= sets * ways else 0


# ---- climbs: the climbs are no levels
def levels(sizes, latencies):
    found, start = [], 0
    for i in range(1, len(sizes) + 1):
        if i < len(sizes) and abs(latencies[i] / latencies[start] - 1) < 1e-3:
            continue
        if i > start:
            found.append((sizes[i - 1], latencies[start]))
        start = i
    return [*found[:-1], (None, found[-1][1])]


# ---- first_lap: The first lap fills an empty cache
def settled_hits(order, sets, ways):
    cache = [[] for _ in range(sets)]
    hits = 0
    for _ in range(1):
        hits = 0
        for line in order:
            held = cache[line % sets]
            if line in held:
                hits += 1
                held.remove(line)
            elif len(held) == ways:
                held.pop(0)
            held.append(line)
    return hits


# ---- first_of_the_climb: on the climb already
def levels(sizes, latencies):
    found, start = [], 0
    for i in range(1, len(sizes) + 1):
        if i < len(sizes) and abs(latencies[i] / latencies[start] - 1) < 1e-3:
            continue
        if i - start >= 4:
            found.append((sizes[min(i, len(sizes) - 1)], latencies[start]))
        start = i
    return [*found[:-1], (None, found[-1][1])]


# ---- several_rings: a permutation of several rings
def ring(n, shuffle):
    lines = list(range(n))
    shuffle(lines)
    return lines

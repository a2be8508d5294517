# diagnosis: the climbs are no levels
def ring(n, shuffle):
    """The line that follows each line, all of them in one cycle."""
    lines = list(range(n))
    shuffle(lines)
    following = [0] * n
    for here, there in zip(lines, lines[1:] + lines[:1], strict=True):
        following[here] = there
    return following


def settled_hits(order, sets, ways):
    """Hits of one lap, once every lap is like the one before."""
    cache = [[] for _ in range(sets)]
    hits = 0
    for _ in range(3):
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


def levels(sizes, latencies):
    """Pairs of the largest working set and the latency of every level."""
    found, start = [], 0
    for i in range(1, len(sizes) + 1):
        if i < len(sizes) and abs(latencies[i] / latencies[start] - 1) < 1e-3:
            continue
        if i > start:
            found.append((sizes[i - 1], latencies[start]))
        start = i
    return [*found[:-1], (None, found[-1][1])]

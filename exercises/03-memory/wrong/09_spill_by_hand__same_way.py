# diagnosis: every round should begin with what LRU still holds
def lru(trace, capacity):
    """Blocks copied in, the longest unread leaves."""
    held, loads = [], 0
    for name in trace:
        if name in held:
            held.remove(name)
        else:
            loads += 1
            if len(held) == capacity:
                held.pop(0)
        held.append(name)
    return loads


def belady(trace, capacity):
    """Blocks copied in, the one needed furthest in the future leaves."""
    held, loads = set(), 0

    def next_use(name, after):
        for at in range(after, len(trace)):
            if trace[at] == name:
                return at
        return len(trace)

    for at, name in enumerate(trace):
        if name in held:
            continue
        loads += 1
        if len(held) == capacity:
            held.remove(max(held, key=lambda block: next_use(block, at)))
        held.add(name)
    return loads


def snake(blocks, rounds):
    """A trace of all blocks in each round, kind to LRU."""
    there = list(range(blocks))
    return [b for r in range(rounds) for b in (there)]

# ---- belady_is_lru: That is LRU; look into the future
def belady(trace, capacity):
    return lru(trace, capacity)


# ---- every_read: You counted every read
def lru(trace, capacity):
    held, loads = [], 0
    for name in trace:
        if name in held:
            held.remove(name)
        elif len(held) == capacity:
            held.pop(0)
        loads += 1
        held.append(name)
    return loads


# ---- fifo: yours kept its old place
def lru(trace, capacity):
    held, loads = [], 0
    for name in trace:
        if name in held:
            continue
        loads += 1
        if len(held) == capacity:
            held.pop(0)
        held.append(name)
    return loads


# ---- same_way: every round should begin with what LRU still holds
def snake(blocks, rounds):
    there = list(range(blocks))
    return [b for r in range(rounds) for b in (there)]


# ---- soonest: The block needed soonest left
def belady(trace, capacity):
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
            held.remove(min(held, key=lambda block: next_use(block, at)))
        held.add(name)
    return loads

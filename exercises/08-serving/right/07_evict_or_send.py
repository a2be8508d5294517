# ---- distances: one list, cut in two where the chip's memory ends
def served(keys, near, far):
    held, found = [], []
    for key in keys:
        found.append(held.index(key) if key in held else near + far)
        if key in held:
            held.remove(key)
        held.insert(0, key)
        del held[near + far :]
    first = sum(d < near for d in found)
    second = sum(near <= d < near + far for d in found)
    return first, second, len(found) - first - second


def quickest(size, ways, compute):
    best = "compute"
    for name, (latency, bandwidth, links) in ways.items():
        time = latency + size / links / bandwidth
        if time < compute:
            best, compute = name, time
    return best


# ---- ordered: two dictionaries in the order of use
def served(keys, near, far):
    from collections import Counter, OrderedDict

    held, places = (OrderedDict(), OrderedDict()), Counter()
    for key in keys:
        level = next((i for i in (0, 1) if key in held[i]), 2)
        places[level] += 1
        if level < 2:
            del held[level][key]
        for tier, room in zip(held, (near, far), strict=True):
            tier[key] = None
            if len(tier) <= room:
                break
            key, _ = tier.popitem(last=False)
    return [places[0], places[1], places[2]]


def quickest(size, ways, compute):
    times = [(compute, 0, "compute")]
    times += [(w + size / (r * n), 1, name) for name, (w, r, n) in ways.items()]
    return min(times)[-1]

# ---- searched: the pace of a long loop, buffers tried one after the other
def busy(load, latency, multiply, buffers, tiles):
    ends = [0] * buffers + [0] * tiles
    loaded = done = 0
    for at in range(tiles):
        loaded = max(loaded, ends[at]) + load
        done = max(done, loaded + latency) + multiply
        ends[at + buffers] = done
    return multiply * tiles / done


def pace(load, latency, multiply, buffers):
    few, many = 720, 1440
    total = [
        n * multiply / busy(load, latency, multiply, buffers, n) for n in (few, many)
    ]
    return (total[1] - total[0]) / (many - few)


def enough(load, latency, multiply):
    count = 1
    while count * max(load, multiply) < load + latency + multiply:
        count += 1
    return count


def deepest(room, rows, columns, buffers, width):
    depth = 0
    while buffers * (rows + columns) * (depth + 16) * width <= room:
        depth += 16
    return depth


# ---- whole_numbers: rounds counted, the loop by its closed form
def pace(load, latency, multiply, buffers):
    found = (load + latency + multiply) / buffers
    return sorted([load, multiply, found])[-1]


def enough(load, latency, multiply):
    slow = load if load > multiply else multiply
    return -(-(load + latency + multiply) // slow)


def busy(load, latency, multiply, buffers, tiles):
    once, slow = load + latency + multiply, max(load, multiply)
    handed = -(-tiles // buffers) - 1
    long = (handed + 1) * once + (tiles - 1 - handed * buffers) * slow
    return tiles * multiply / max(once + (tiles - 1) * slow, long)


def deepest(room, rows, columns, buffers, width):
    each = room / buffers / width / (rows + columns)
    return 16 * math.floor(each / 16)

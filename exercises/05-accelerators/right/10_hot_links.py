# ---- ranges: both legs as ranges of links
def loads(messages):
    carried = {}
    for (x, y), (to_x, to_y), size in messages:
        step = 1 if to_x > x else -1
        way = [((c, y), (c + step, y)) for c in range(x, to_x, step)]
        step = 1 if to_y > y else -1
        way += [((to_x, r), (to_x, r + step)) for r in range(y, to_y, step)]
        for link in way:
            carried[link] = carried.get(link, 0) + size
    return carried


def hottest(messages):
    return max([0, *loads(messages).values()])


def gather(k):
    return sum(1 for x in range(k) for y in range(1, k))


def everyone(k):
    return max(k * (c + 1) * (k - c - 1) for c in range(k - 1))


# ---- all_walked: closed forms by walking every message
def loads(messages):
    carried = Counter()
    for start, end, size in messages:
        corner = (end[0], start[1])
        for a, b in ((start, corner), (corner, end)):
            far = max(abs(a[0] - b[0]), abs(a[1] - b[1]))
            dots = [
                tuple(p + (q - p) * n // far for p, q in zip(a, b, strict=True))
                for n in range(far + 1)
                if far
            ]
            for n in range(1, len(dots)):
                carried[dots[n - 1], dots[n]] += size
    return carried


def hottest(messages):
    found = loads(messages)
    return sorted(found.values())[-1] if found else 0


def gather(k):
    every = [(x, y) for x in range(k) for y in range(k)]
    return hottest([(a, (0, 0), 1) for a in every])


def everyone(k):
    every = [(x, y) for x in range(k) for y in range(k)]
    return hottest([(a, b, 1) for a in every for b in every])

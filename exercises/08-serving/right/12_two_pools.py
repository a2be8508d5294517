# ---- balanced: the real number where both are full, and its neighbours
def split(machines, read, step, seats, new):
    exact = machines * read / (read + new * step / seats)
    near = [n for n in (int(exact), int(exact) + 1) if 0 < n < machines] or [1]
    if exact >= machines - 1:
        near = [machines - 1]
    return max(near, key=lambda n: (done(n, machines, read, step, seats, new), -n))


def done(n, machines, read, step, seats, new):
    return min(n / read, (machines - n) * seats / (step * new))


def rate(machines, read, step, seats, new):
    first = split(machines, read, step, seats, new)
    return done(first, machines, read, step, seats, new)


def pace(attention, mlp, crossing, batches):
    longer = max(attention, mlp)
    return max(longer * batches, attention + mlp + 2 * crossing) / batches


# ---- events: micro-batches sent round until the pace is steady
def split(machines, read, step, seats, new):
    best, most = 1, 0
    for first in range(1, machines):
        got = min(first / read, (machines - first) * seats / step / new)
        if got > most:
            best, most = first, got
    return best


def rate(machines, read, step, seats, new):
    first = split(machines, read, step, seats, new)
    return min(first / read, (machines - first) * seats / step / new)


def pace(attention, mlp, crossing, batches):
    left = right = 0.0
    back, ends = [0.0] * batches, []
    for _ in range(200):
        for which in range(batches):
            left = max(left, back[which]) + attention
            right = max(right, left + crossing) + mlp
            back[which] = right + crossing
        ends.append(max(back))
    return (ends[-1] - ends[99]) / 100 / batches

# ---- steps: a step after the other, and the gain from its recursion
def static_steps(lengths, slots):
    line, count = list(lengths), 0
    while line:
        batch, line = line[:slots], line[slots:]
        count += max(batch)
    return count


def continuous_steps(lengths, slots):
    line, running, count = list(lengths), [], 0
    while line or running:
        while line and len(running) < slots:
            running.append(line.pop(0))
        count += 1
        running = [left - 1 for left in running if left > 1]
    return count


def gain(slots):
    return 1.0 if slots == 1 else gain(slots - 1) + 1 / slots


# ---- exact: fractions, and slots as a sorted list of ends
def static_steps(lengths, slots):
    if not lengths:
        return 0
    return max(lengths[:slots]) + static_steps(lengths[slots:], slots)


def continuous_steps(lengths, slots):
    ends = [0] * slots
    for length in lengths:
        ends.sort()
        ends[0] += length
    return sorted(ends)[-1]


def gain(slots):
    from fractions import Fraction

    return float(sum(Fraction(1, 1 + at) for at in range(slots)))

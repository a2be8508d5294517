# ---- ages: the time of the last use of each line, and the oldest leaves
def misses(addresses, size, ways, line):
    sets = size // (ways * line)
    used = {}
    missed = 0
    for now, address in enumerate(addresses):
        number = address // line
        lines = used.setdefault(number % sets, {})
        if number not in lines:
            missed += 1
            if len(lines) == ways:
                del lines[min(lines, key=lines.get)]
        lines[number] = now
    return missed


# ---- distances: how many other lines of the set came in between
import numpy as np


def misses(addresses, size, ways, line):
    numbers = np.asarray(addresses) // line
    sets = size // (ways * line)
    missed = 0
    for s in np.unique(numbers % sets):
        own = numbers[numbers % sets == s].tolist()
        last = {}
        for at, number in enumerate(own):
            between = own[last[number] + 1 : at] if number in last else None
            missed += between is None or len(set(between)) >= ways
            last[number] = at
    return np.int64(missed)

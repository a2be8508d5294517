# ---- by_name: the arrays are read from the loop's text
import re

from stacklib.quantity import Quantity

TEXTS = {
    "copy": "c = a",
    "scale": "b = s c",
    "add": "c = a + b",
    "triad": "a = b + s c",
}


def counted(loop, n, element):
    arrays = set(re.findall(r"\b[abc]\b", TEXTS[loop]))
    return Quantity(len(arrays) * n * element, "B")


def moved(loop, n, element):
    stored, loaded = (re.findall(r"\b[abc]\b", side) for side in TEXTS[loop].split("="))
    return (2 * len(stored) + len(loaded)) * n * element


def time_copy(copy, target, source, clock, repeats):
    def one(_):
        start = clock()
        copy(target, source)
        return clock() - start

    copy(target, source)
    return map(one, range(repeats))


def bandwidth(size, times):
    return max(Quantity(size, "B") / Quantity(t, "s") for t in times)


# ---- stamps: readings between copies, and their differences
import numpy as np

ARRAYS = np.array([2, 2, 3, 3])
NAMES = ["copy", "scale", "add", "triad"]


def counted(loop, n, element):
    return np.int64(ARRAYS[NAMES.index(loop)] * n * element)


def moved(loop, n, element):
    return np.int64((ARRAYS + 1)[NAMES.index(loop)] * n * element)


def time_copy(copy, target, source, clock, repeats):
    for _ in range(2):  # once more does no harm
        copy(target, source)
    stamps = [clock()]
    for _ in range(repeats):
        copy(target, source)
        stamps.append(clock())
    return np.diff(stamps)


def bandwidth(size, times):
    return np.max(1e-9 * size / np.asarray(times))

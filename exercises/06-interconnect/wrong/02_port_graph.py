# ---- wired_only: A GPU without a wire is a set of its own
def islands(gpus, wires):
    near = {}
    for gpu, chip in wires:
        near.setdefault(("g", gpu), set()).add(("c", chip))
        near.setdefault(("c", chip), set()).add(("g", gpu))
    left, found = set(near), 0
    while left:
        found += 1
        todo = [left.pop()]
        while todo:
            new = near[todo.pop()] & left
            left -= new
            todo += new
    return found


# ---- first: you looked at one of them
def islands(gpus, wires):
    chip = {}
    for gpu, at in wires:
        chip.setdefault(gpu, at)
    return len(set(chip.values())) + gpus - len(chip)


# ---- wires: are one chip at which they meet
from collections import Counter


def meeting(gpus, wires):
    held = [Counter(c for g, c in wires if g == gpu) for gpu in range(gpus)]
    return min(sum((a & b).values()) for a, b in combinations(held, 2))


# ---- next: Every pair counts
from itertools import pairwise


def meeting(gpus, wires):
    held = [{c for g, c in wires if g == gpu} for gpu in range(gpus)]
    return min(len(a & b) for a, b in pairwise(held))


# ---- packed: end at the same few chips
def wire(gpus, links, chips, ports):
    if gpus * links > chips * ports:
        raise ValueError
    return [(n // links, n // ports) for n in range(gpus * links)]


# ---- from_zero: go to different chips
def wire(gpus, links, chips, ports):
    if gpus * links > chips * ports:
        raise ValueError
    return [(gpu, link % chips) for gpu in range(gpus) for link in range(links)]


# ---- unchecked: it must raise ValueError
def wire(gpus, links, chips, ports):
    return [(n // links, n % chips) for n in range(gpus * links)]

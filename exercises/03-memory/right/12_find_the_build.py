# ---- divided: the number of dies is known, heights divide it
def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    dies, rest = divmod(8 * capacity_gb, die_gbit)
    found = set()
    for height in (16, 12, 8, 4):
        stacks = dies // height
        if rest or dies % height or not 1 <= stacks <= 16:
            continue
        if stacks * pins * top_rate >= 8000 * bandwidth_tb:
            found.add((stacks, height))
    return sorted(found)


# ---- grid: all counts and heights at once
import numpy as np


def find_builds(capacity_gb, bandwidth_tb, pins, die_gbit, top_rate):
    stacks = np.arange(1, 17)[:, None]
    heights = np.array([4, 8, 12, 16])[None, :]
    holds = stacks * heights * die_gbit == 8 * capacity_gb
    runs = 8e12 * bandwidth_tb / (stacks * pins) <= top_rate * 1e9
    at, which = np.nonzero(holds & runs)
    return np.column_stack([stacks[at, 0], heights[0, which]])

# ---- counted: the waves are walked through, and what each reads
from fractions import Fraction


def streams(section, group):
    return len({head // group for head in range(section)})


def fits(units, section, group, kv, capacity):
    return sum(kv for _ in range(streams(section, group))) <= capacity


def hit_rate(heads, tiles, units, section, group, kv, capacity):
    read, stays = 0, fits(units, section, group, kv, capacity)
    seen = set()
    for start in range(0, heads, section):
        own = {head // group for head in range(start, start + section)}
        for _ in range(section * tiles // units):
            read += len(own - seen) if stays else len(own)
            seen |= own
    return 1 - Fraction(read, heads * tiles)


def widest_section(heads, tiles, units, group, kv, capacity, sections):
    best, widest = -1, None
    for section in sorted(sections):
        rate = hit_rate(heads, tiles, units, section, group, kv, capacity)
        if rate >= best:
            best, widest = rate, section
    return widest


# ---- arrays: all sections at once, in NumPy
import numpy as np


def streams(section, group):
    return np.ceil(np.asarray(section) / group)


def fits(units, section, group, kv, capacity):
    return streams(section, group) <= np.floor_divide(capacity, kv)


def hit_rate(heads, tiles, units, section, group, kv, capacity):
    missed = np.where(
        fits(units, section, group, kv, capacity),
        heads / group,
        heads * tiles / units * streams(section, group),
    )
    return 1 - missed / (heads * tiles)


def widest_section(heads, tiles, units, group, kv, capacity, sections):
    offered = np.sort(sections)[::-1]
    rates = hit_rate(heads, tiles, units, offered, group, kv, capacity)
    return offered[np.argmax(rates.round(9))]

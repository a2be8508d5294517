# diagnosis: That is the share of misses
def streams(section, group):
    return -(-section // group)


def fits(units, section, group, kv, capacity):
    return streams(section, group) * kv <= capacity


def hit_rate(heads, tiles, units, section, group, kv, capacity):
    asked = heads * tiles * kv
    if fits(units, section, group, kv, capacity):
        missed = heads // group * kv
    else:
        missed = heads * tiles // units * streams(section, group) * kv
    return missed / asked


def widest_section(heads, tiles, units, group, kv, capacity, sections):
    rates = {s: hit_rate(heads, tiles, units, s, group, kv, capacity) for s in sections}
    return max(s for s in sections if rates[s] >= max(rates.values()) - 1e-9)

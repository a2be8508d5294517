# diagnosis: heads side by side as many hit
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
    return 1 - missed / asked


def widest_section(heads, tiles, units, group, kv, capacity, sections):
    return min(sections)

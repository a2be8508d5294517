# ---- every_block_counts: You count what every block reads
def fits(units, section, group, kv, capacity):
    return units * kv <= capacity


# ---- fewest_heads: heads side by side as many hit
def widest_section(heads, tiles, units, group, kv, capacity, sections):
    return min(sections)


# ---- heads_not_groups: Heads of a group share keys and values
def streams(section, group):
    return section


# ---- misses: That is the share of misses
def hit_rate(heads, tiles, units, section, group, kv, capacity):
    asked = heads * tiles * kv
    if fits(units, section, group, kv, capacity):
        missed = heads // group * kv
    else:
        missed = heads * tiles // units * streams(section, group) * kv
    return missed / asked


# ---- most_heads: heads side by side are too many
def widest_section(heads, tiles, units, group, kv, capacity, sections):
    return max(sections)


# ---- none_read: A section smaller than a group still reads one
def streams(section, group):
    return section // group


# ---- part_stays: LRU keeps nothing of a loop
def hit_rate(heads, tiles, units, section, group, kv, capacity):
    asked = heads * tiles * kv
    if fits(units, section, group, kv, capacity):
        missed = heads // group * kv
    else:
        read = streams(section, group) * kv
        waves, once = heads * tiles / units, heads // group * kv
        missed = once + (waves * read - once) * (1 - capacity / read)
    return 1 - missed / asked

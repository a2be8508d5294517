# ---- all_down: only half of a switch's ports lead down
def room(radix, levels):
    return radix**levels


# ---- half_top: At the top no port leads up
def room(radix, levels):
    return (radix // 2) ** levels


# ---- one_more: exactly full needs no further level
def levels_for(gpus, radix):
    levels = 1
    while room(radix, levels) <= gpus:
        levels += 1
    return levels


# ---- two_levels: You stay at two levels
def switches(gpus, radix):
    return 3 * gpus // radix


# ---- three_levels: You stay at three levels
def switches(gpus, radix):
    return 5 * gpus // radix


# ---- full_top: takes half as many switches
def switches(gpus, radix):
    return levels_for(gpus, radix) * gpus // (radix // 2)


# ---- in_all: divide by its GPUs
def price(gpus, radix, switch, cable):
    return switches(gpus, radix) * switch + levels_for(gpus, radix) * gpus * cable


# ---- both_ends: count each cable once
def price(gpus, radix, switch, cable):
    return switches(gpus, radix) * switch / gpus + 2 * levels_for(gpus, radix) * cable

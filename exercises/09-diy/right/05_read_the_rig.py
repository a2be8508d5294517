# ---- by_columns: the place of each column, then the lines
def narrowest(text):
    lines = [line.strip() for line in text.strip().splitlines()]
    names = [name.strip() for name in lines[0].split(",")]
    wanted = (GEN, MOST, LANES, BUSY)
    if any(name not in names for name in wanted):
        raise ValueError("no header with links and load")
    least = None
    for line in lines[1:]:
        cells = [cell.strip().rstrip(" %") for cell in line.split(",")]
        gen, most, lanes, busy = (cells[names.index(name)] for name in wanted)
        slot = LANE[int(gen) if float(busy) >= 50 else int(most)] * int(lanes)
        least = slot if least is None else min(least, slot)
    return least


# ---- step_by_step: each step of the ring
def all_reduce_ms(cards, megabytes, slot, share):
    total = 0.0
    for _ in range(2 * (cards - 1)):
        total += megabytes / cards / (slot * share)
    return total

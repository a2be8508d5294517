# ---- by_hand: each share in turn, and slots dropped until enough are gone
def left(wired, shares, used):
    lanes = {slot: wired[slot] for slot in used}
    for slot, other, kept in shares:
        if slot in lanes and other in lanes:
            lanes[slot] = min(lanes[slot], kept)
    return [lanes[slot] for slot in used]


def worst(wired, shares, many):
    def best(used):
        if len(used) == many:
            return min(left(wired, shares, used))
        return max(best(used[:n] + used[n + 1 :]) for n in range(len(used)))

    if not 0 < many <= len(wired):
        raise ValueError(f"{many} cards do not fit {len(wired)} slots")
    return best(list(wired))


# ---- by_target: the largest number of lanes that enough slots can keep
def worst(wired, shares, many):
    if many > len(wired):
        raise ValueError(f"{len(wired)} slots, {many} cards")
    for lanes in (16, 8, 4, 2, 1):
        for way in combinations(sorted(wired), many):
            if all(kept >= lanes for kept in left(wired, shares, way)):
                return lanes
    return 0

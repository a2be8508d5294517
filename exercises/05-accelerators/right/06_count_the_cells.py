# ---- tables: by a table of functions
def settle(cells, inputs):
    do = {
        "&": lambda x, y: x * y,
        "|": lambda x, y: max(x, y),
        "^": lambda x, y: (x + y) % 2,
        "~": lambda x, y: (x + 1) % 2,
    }
    bits, shown = [0, 1, *inputs], []
    for kind, a, b in cells:
        shown.append(do[kind](bits[a], bits[b]))
        bits.append(shown[-1])
    return shown


def area(cells):
    kinds = [kind for kind, _, _ in cells]
    return 6 * len(kinds) + 6 * kinds.count("^") - 4 * kinds.count("~")


# ---- saved: what the narrower product saves
def narrower(narrow, wide, place, product):
    saved = product * (1 - narrow**2 / wide**2)
    return 1 - saved / place

# ---- columns: fixed names from the first line
def matrix(text):
    head, *rest = [line.split() for line in text.strip().splitlines()]
    names = [row[0] for row in rest]
    assert head[: len(names)] == names
    return names, {(r[0], n): r[1 + i] for r in rest for i, n in enumerate(names)}


def across(text):
    table = matrix(text)[1]
    found = []
    for pair, kind in table.items():
        both = pair[0] < pair[1] and all(name.startswith("GPU") for name in pair)
        if both and kind not in ("X", "PIX", "PXB") and not kind.startswith("NV"):
            found.append(pair)
    return found


# ---- merging: islands by joining sets
def islands(text):
    names, table = gpus(text), matrix(text)[1]
    groups = [{name} for name in names]
    for (a, b), kind in table.items():
        if kind.startswith("NV"):
            mine = [g for g in groups if a in g or b in g]
            groups = [g for g in groups if g not in mine] + [set().union(*mine)]
    return sorted(tuple(sorted(group)) for group in groups)

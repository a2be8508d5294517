# ---- shifted: does the first name of the first line stand over
def way(text, one, other):
    lines = [line.split() for line in text.splitlines()]
    column = lines[0].index(other)
    return next(row for row in lines[1:] if row[0] == one)[column]


# ---- all_pcie: PXB stays below the root complex
def across(text):
    names, table = gpus(text), matrix(text)[1]
    return [
        (a, b)
        for a in names
        for b in names
        if a < b and not table[a, b].startswith("NV")
    ]


# ---- sockets: PHB, NODE and SYS cross
def across(text):
    names, table = gpus(text), matrix(text)[1]
    return [(a, b) for a in names for b in names if a < b and table[a, b] == "SYS"]


# ---- direct: GPU0 reaches GPU2 over GPU1
def islands(text):
    names, table = gpus(text), matrix(text)[1]
    found = []
    for name in names:
        for group in found:
            if all(table[name, other].startswith("NV") for other in group):
                group.append(name)
                break
        else:
            found.append([name])
    return [tuple(group) for group in found]


# ---- no_switches: the switches are a candidate
def takes(text, size):
    n = len(gpus(text))
    rate, ll, simple = 24e3, 1.0, 5.7
    if len(islands(text)) == 1:
        rate = 20e3 * (18 if "NV18" in text else 1)
        ll, simple = 0.6, 3.4
    moves = rate * n / (2 * (n - 1))
    first = 6.6 + 2 * (n - 1) * ll + 2 * size / moves
    second = 8.4 + 2 * (n - 1) * simple + size / moves
    return "ring ll" if first < second else "ring simple"


# ---- summed: eighteen to a switch
def takes(text, size):
    n = len(gpus(text))
    rate, ll, simple = 24e3, 1.0, 5.7
    if len(islands(text)) == 1:
        rate = 20e3 * (54 if "NV18" in text else 1)
        ll, simple = 0.6, 3.4
    moves = rate * n / (2 * (n - 1))
    times = {
        "ring ll": 6.6 + 2 * (n - 1) * ll + 2 * size / moves,
        "ring simple": 8.4 + 2 * (n - 1) * simple + size / moves,
    }
    if "NV18" in text:
        times["switches"] = 25 + size / (0.75 * rate)
    return min(times, key=times.get)

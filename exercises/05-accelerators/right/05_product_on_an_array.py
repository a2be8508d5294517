# ---- split: blocks first, then their lines
def fused(text):
    blocks = {}
    for part in text.split("\n}"):
        head, *body = part.strip().splitlines() or [""]
        while body and not head.endswith("{"):
            head, *body = body
        name = head.removeprefix("ENTRY ").split(" ")[0].lstrip("%")
        blocks[name] = [line for line in body if " = " in line]
    found = {}
    for lines in blocks.values():
        for line in lines:
            if " fusion(" in line:
                name = line.split("calls=")[1].split(",")[0].strip().lstrip("%")
                kinds = [one.split(" = ")[1].split(" ")[1] for one in blocks[name]]
                kinds = [kind.split("(")[0] for kind in kinds]
                found[name] = [x for x in kinds if x not in {"parameter", "constant"}]
    return found


def tiles(k, n, rows, cols):
    made = []
    for down in range(-(-k // rows)):
        for right in range(-(-n // cols)):
            tall = range(k)[down * rows : (down + 1) * rows]
            made.append((tall, range(n)[right * cols : (right + 1) * cols]))
    return made


def on_array(a, w, rows, cols):
    import numpy as np

    sums = np.zeros((len(a), len(w[0])), int)
    for down, right in tiles(len(w), len(w[0]), rows, cols):
        part = np.array(a)[:, list(down)] @ np.array(w)[np.ix_(list(down), list(right))]
        sums[:, list(right)] += part
    return sums.tolist()


def busy(m, k, n, rows, cols):
    held = [len(down) * len(right) for down, right in tiles(k, n, rows, cols)]
    return sum(held) / len(held) / rows / cols


# ---- cycle_by_cycle: the skewed array itself
def fused(text):
    inside, of, order = "", {}, []
    for line in text.splitlines():
        if line.rstrip().endswith("{") and "=" not in line.split("(")[0]:
            inside = line.replace("ENTRY", "").split()[0].strip("%")
        match = re.search(r"= \S+ ([a-z\-]+)\(", line)
        if match:
            of.setdefault(inside, []).append(match[1])
        if match and match[1] == "fusion":
            order.append(re.search(r"calls=%?([^,\s]+)", line)[1])
    return {
        name: list(filter(lambda op: op not in "parameter constant", of[name]))
        for name in order
    }


def tiles(k, n, rows, cols):
    def cut(size, part):
        return [range(at, min(size, at + part)) for at in range(0, size, part)]

    return [(down, right) for down in cut(k, rows) for right in cut(n, cols)]


def on_array(a, w, rows, cols):
    sums = [[0 for _ in w[0]] for _ in a]
    for down, right in tiles(len(w), len(w[0]), rows, cols):
        for cycle in range(len(a) + len(down) + len(right) - 2):
            for r, at in enumerate(down):
                for c, to in enumerate(right):
                    if 0 <= cycle - r - c < len(a):
                        row = cycle - r - c
                        sums[row][to] += a[row][at] * w[at][to]
    return sums


def busy(m, k, n, rows, cols):
    full = -(-k // rows) * rows, -(-n // cols) * cols
    return (k / full[0]) * (n / full[1])

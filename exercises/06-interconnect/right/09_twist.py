# ---- waves: sets that grow ring by ring
def far(shape, turn):
    wave, found, hops = {(0, 0, 0)}, {}, 0
    while wave:
        found.update(dict.fromkeys(wave, hops))
        wave = {to for at in wave for to in near(at, shape, turn)} - set(found)
        hops += 1
    return found


# ---- copies: the twist as copies of a plain torus
def far(shape, turn):
    x, y, z = shape

    def line(distance, size):
        return min(distance % size, -distance % size)

    found = {}
    for a in range(x):
        for b in range(y):
            for c in range(z):
                ways = []
                for i in (-1, 0, 1):
                    for j in (-1, 0, 1):
                        along = line(c + (i + j) * turn, z)
                        ways.append(abs(a + i * x) + abs(b + j * y) + along)
                found[a, b, c] = min(ways)
    return found


def into_half(longest, rate):
    rows, chips = 1, longest
    return 2 * rows * rate / (chips / 2)

# ---- recursive: terms one from another, and Newton's steps
def quantile(sample, q):
    ranks = {x: sum(y <= x for y in sample) for x in sample}
    return min(x for x, rank in ranks.items() if rank >= q * len(sample) - 1e-9)


def later(hops, t):
    total = term = 1.0
    for k in range(1, hops):
        term *= t / k
        total += term
    return total * exp(-t)


def overstated(hops, q):
    t = float(hops)
    for _ in range(100):
        density = exp(-t) * t ** (hops - 1) / factorial(hops - 1)
        t += (later(hops, t) - (1 - q)) / density
    return -hops * log(1 - q) / t


# ---- sums: the chain hop by hop, as an integral over the first one's end
def quantile(sample, q):
    left = sorted(sample, reverse=True)
    while (len(left) - 1) >= q * len(sample) - 1e-9 and len(left) > 1:
        left.pop(0)
    return left[0]


def later(hops, t):
    # Simpson's rule for the density of all hops but the last, which ends by itself.
    if hops == 1:
        return exp(-t)
    steps, total = 2000, 0.0
    for n in range(steps + 1):
        s = t * n / steps
        weight = 1 if n in (0, steps) else 4 if n % 2 else 2
        total += weight * s ** (hops - 2) / factorial(hops - 2)
    return later(hops - 1, t) + exp(-t) * total * t / steps / 3


def overstated(hops, q):
    t = 0.0
    step = float(hops)
    while step > 1e-7:
        while exp(-t - step) * sum(
            (t + step) ** k / factorial(k) for k in range(hops)
        ) > (1 - q):
            t += step
        step /= 2
    return hops * log(1 / (1 - q)) / t

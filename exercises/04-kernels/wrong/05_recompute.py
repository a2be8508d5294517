# ---- all_segments: its own input is part of
def peak(n, i, a, k):
    return math.ceil(n / k) * i + k * a


def best(n, i, a):
    def lowest(k):
        return max(j * i + min(k, n - j * k) * a for j in range(math.ceil(n / k)))

    return min(range(1, n + 1), key=lambda k: (lowest(k), k))


# ---- all_inputs: not those of all layers
def peak(n, i, a, k):
    return max(j * k * i + min(k, n - j * k) * a for j in range(math.ceil(n / k)))


# ---- last_full: then the one before is the worst
def peak(n, i, a, k):
    return (math.ceil(n / k) - 1) * i + k * a


def best(n, i, a):
    def lowest(k):
        return max(j * i + min(k, n - j * k) * a for j in range(math.ceil(n / k)))

    return min(range(1, n + 1), key=lambda k: (lowest(k), k))


# ---- sqrt_n: holds too much of its own
def best(n, i, a):
    return round(math.sqrt(n))


# ---- upside_down: it stands below
def root(n, i, a):
    return math.sqrt(n * a / i)


# ---- one_pass: three passes' worth
def again(n, kept):
    return (n - kept) / n

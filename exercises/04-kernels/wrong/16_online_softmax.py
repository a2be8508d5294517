# ---- added: each part is measured from its own
def merge(a, b):
    return max(a[0], b[0]), a[1] + b[1], a[2] + b[2]


# ---- turned: The factor is turned round
def merge(a, b):
    most = max(a[0], b[0])
    left, right = (math.exp(min(700, most - m)) for m in (a[0], b[0]))
    return most, a[1] * left + b[1] * right, a[2] * left + b[2] * right


# ---- sum_only: Only the sum is corrected
def merge(a, b):
    most = max(a[0], b[0])
    if most == -math.inf:
        return NOTHING
    total = a[1] * math.exp(a[0] - most) + b[1] * math.exp(b[0] - most)
    return most, total, a[2] + b[2]


# ---- not_a_number: -inf less -inf
def merge(a, b):
    most = max(a[0], b[0])
    left, right = math.exp(a[0] - most), math.exp(b[0] - most)
    return most, a[1] * left + b[1] * right, a[2] * left + b[2] * right


# ---- divided: o is already divided by l
def partial(scores, values):
    most = max(scores)
    weights = [math.exp(s - most) for s in scores]
    weighted = sum(w * v for w, v in zip(weights, values, strict=True))
    return most, sum(weights), weighted / sum(weights)


# ---- no_maximum: subtract the maximum before you take it
def partial(scores, values):
    weights = [math.exp(s) for s in scores]
    weighted = sum(w * v for w, v in zip(weights, values, strict=True))
    most = max(scores)
    return most, sum(weights) / math.exp(most), weighted / math.exp(most)

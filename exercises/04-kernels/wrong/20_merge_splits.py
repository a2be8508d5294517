# ---- alike: All pieces weigh the same with you
def merge(parts):
    columns = zip(*(output for _, _, output in parts), strict=True)
    output = [sum(column) / len(parts) for column in columns]
    return max(m for m, _, _ in parts), sum(s for _, s, _ in parts), output


# ---- no_factor: The sums were taken against different maxima
def merge(parts):
    total = sum(s for _, s, _ in parts)
    columns = zip(*(output for _, _, output in parts), strict=True)
    shares = [s / total for _, s, _ in parts]
    output = [
        sum(s * x for s, x in zip(shares, column, strict=True)) for column in columns
    ]
    return max(m for m, _, _ in parts), total, output


# ---- no_sum: its sum has to come in
def merge(parts):
    top = max(m for m, _, _ in parts)
    shares = [math.exp(m - top) for m, _, _ in parts]
    total = sum(shares)
    columns = zip(*(output for _, _, output in parts), strict=True)
    return (
        top,
        total,
        [
            sum(s * x for s, x in zip(shares, column, strict=True)) / total
            for column in columns
        ],
    )


# ---- not_divided: The output is not divided by the sum of weights
def attend(scores, values):
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    columns = zip(*values, strict=True)
    return (
        top,
        sum(weights),
        [
            sum(w * x for w, x in zip(weights, column, strict=True))
            for column in columns
        ],
    )


# ---- overflows: `exp` of a large score overflows
def attend(scores, values):
    weights = [math.exp(score) for score in scores]
    top, total = max(scores), sum(weights)
    columns = zip(*values, strict=True)
    output = [
        sum(w * x for w, x in zip(weights, column, strict=True)) / total
        for column in columns
    ]
    return top, total / math.exp(top), output


# ---- once_only: A second merge needs them
def merge(parts):
    top = max(m for m, _, _ in parts)
    shares = [s * math.exp(m - top) for m, s, _ in parts]
    total = sum(shares)
    columns = zip(*(output for _, _, output in parts), strict=True)
    output = [
        sum(s * x for s, x in zip(shares, column, strict=True)) / total
        for column in columns
    ]
    return top, 1.0, output

# ---- added_again: sums that are complete are added again
def sends(ranks):
    return [
        (step, rank, (rank + 1) % ranks, (rank - step) % ranks, True)
        for step in range(2 * (ranks - 1))
        for rank in range(ranks)
    ]


# ---- half: the sums go around, too
def sends(ranks):
    return [
        (step, rank, (rank + 1) % ranks, (rank - step) % ranks, True)
        for step in range(ranks - 1)
        for rank in range(ranks)
    ]


# ---- sum: the sum of gradients, where the mean is asked
def update(weights, summed, samples, rate):
    return [w - rate * g for w, g in zip(weights, summed, strict=True)]

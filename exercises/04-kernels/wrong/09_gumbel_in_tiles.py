# ---- all_divided: The temperature divides the logit, not the noise.
def best(logits, uniforms, temperature, first):
    scores = [
        (z - math.log(-math.log(u))) / temperature if temperature else z
        for z, u in zip(logits, uniforms, strict=True)
    ]
    return max(scores), first + scores.index(max(scores))


# ---- exponential: minus the logarithm once more
def best(logits, uniforms, temperature, first):
    scores = [
        z / temperature - math.log(u) if temperature else z
        for z, u in zip(logits, uniforms, strict=True)
    ]
    return max(scores), first + scores.index(max(scores))


# ---- later: whichever tile comes first
def merge(a, b):
    return a if a[0] > b[0] else b


# ---- one_noise: you gave all tiles one.
def draw(logits, uniforms, temperature, tile):
    found = (-math.inf, len(logits))
    for first in range(0, len(logits), tile):
        part = logits[first : first + tile]
        found = merge(found, best(part, uniforms[: len(part)], temperature, first))
    return found[1]


# ---- within: Count from `first`.
def best(logits, uniforms, temperature, first):
    scores = [
        z / temperature - math.log(-math.log(u)) if temperature else z
        for z, u in zip(logits, uniforms, strict=True)
    ]
    return max(scores), scores.index(max(scores))

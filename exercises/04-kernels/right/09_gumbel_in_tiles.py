# ---- clocks: the first of clocks that ring at the rate of the logits
def best(logits, uniforms, temperature, first):
    if not temperature:
        top = max(logits)
        return top, first + logits.index(top)
    times = [
        math.log(-math.log(u)) - z / temperature
        for z, u in zip(logits, uniforms, strict=True)
    ]
    return -min(times), first + times.index(min(times))


def merge(a, b):
    if a[0] == b[0]:
        return (a[0], min(a[1], b[1]))
    return a if a[0] > b[0] else b


# ---- arrays: the argmax of NumPy, all tiles first and then a tree of merges
import numpy as np


def best(logits, uniforms, temperature, first):
    scores = np.array(logits, float)
    if temperature:
        scores = scores / temperature - np.log(-np.log(uniforms))
    return scores.max(), first + scores.argmax()


def draw(logits, uniforms, temperature, tile):
    pairs = [
        best(logits[i : i + tile], uniforms[i : i + tile], temperature, i)
        for i in range(0, len(logits), tile)
    ]
    while len(pairs) > 1:
        pairs = [merge(*pairs[:2]), *pairs[2:]][::-1]
    return pairs[0][1]

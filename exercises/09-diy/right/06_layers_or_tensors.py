# ---- in_seconds: seconds first
def by_tensors(weights, rate, cards, layers, wait):
    sized(weights=weights, rate=rate, cards=cards, layers=layers)
    seconds = 0.0
    for _ in range(layers):
        seconds += weights / layers / cards / rate + wait * 1e-6 + wait * 1e-6
    return 1 / seconds


# ---- halving: by trying waits
def turn(weights, rate, cards, layers):
    sized(weights=weights, rate=rate, cards=cards, layers=layers)
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        faster = by_tensors(weights, rate, cards, layers, middle)
        if faster > by_layers(weights, rate, cards):
            low = middle
        else:
            high = middle
    return low

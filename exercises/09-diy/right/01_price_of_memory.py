# ---- one_by_one: card after card
def cards(memory, weights, cache, buffers):
    left, many, each = weights + cache, 0, room(memory, buffers)
    while left > 1e-9:
        left, many = left - each, many + 1
    return many


# ---- seconds: by the time of a token
def ceiling(many, rate, weights, cache, split):
    turns = {"layers": many, "tensors": 1}
    if split not in turns:
        raise ValueError(split)
    own = (weights + cache) / many / rate  # seconds of one card's part
    return 1 / (turns[split] * own)

# ---- counted: by whole groups, and part by part
def nf4_bits(group, second):
    weights = group * second
    return (4 * weights + 8 * second + 32) / weights


def adapter_weights(matrices, layers, rank):
    total = 0
    for outputs, inputs in matrices * layers:
        total += outputs * rank + rank * inputs
    return total


def learning_bytes(adapters):
    parts = {"adapters": 1, "gradients": 1, "mean": 1, "square": 1}
    return sum(4 * adapters * copies for copies in parts.values())


def activation_bytes(layers, tokens, hidden, vocabulary):
    logits = tokens * vocabulary
    return layers * tokens * hidden * 2 + logits * 2 + logits * 4 + logits * 4


# ---- bits: all of it in bits, and bytes at the end
def activation_bytes(layers, tokens, hidden, vocabulary):
    return (16 * layers * hidden + 80 * vocabulary) * tokens / 8


def step_bytes(matrices, layers, others, rank, tokens, hidden, vocabulary):
    bits = 16 * others
    for outputs, inputs in list(matrices) * layers:
        bits += outputs * inputs * nf4_bits(64, 256)
        bits += 4 * 32 * rank * (outputs + inputs)
    return bits / 8 + activation_bytes(layers, tokens, hidden, vocabulary)

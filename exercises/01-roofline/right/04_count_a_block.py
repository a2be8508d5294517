# ---- token_by_token: loops, and matrices one at a time
def product(rows, columns):
    return sum(2 for _ in range(rows) for _ in range(columns))


def projections(hidden, heads, kv_heads, head_dim, tokens):
    widths = [heads, kv_heads, kv_heads]
    there = sum(product(hidden, n * head_dim) for n in widths)
    return tokens * (there + product(heads * head_dim, hidden))


def pairs(heads, head_dim, tokens):
    flop = 0
    for token in range(tokens):
        for _ in range(token + 1):
            flop += heads * (2 * head_dim + 2 * head_dim)
    return flop


def mlp(hidden, intermediate, tokens):
    return tokens * (2 * product(hidden, intermediate) + product(intermediate, hidden))


# ---- masks: a NumPy mask is counted, and the results are quantities
import numpy as np

from stacklib.quantity import Quantity


def projections(hidden, heads, kv_heads, head_dim, tokens):
    columns = np.array([heads, kv_heads, kv_heads, heads]) * head_dim
    return Quantity(int(tokens * hidden * columns.sum()), "MAC")


def pairs(heads, head_dim, tokens):
    mask = np.tril(np.ones((tokens, tokens), dtype=int))
    return Quantity(int(4 * heads * head_dim * mask.sum()), "FLOP")


def mlp(hidden, intermediate, tokens):
    gate = np.zeros((hidden, intermediate))
    return Quantity(2 * tokens * 3 * gate.size, "FLOP")

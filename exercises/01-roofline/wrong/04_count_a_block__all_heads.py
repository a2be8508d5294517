# diagnosis: only the queries have heads
def projections(hidden, heads, kv_heads, head_dim, tokens):
    return 2 * tokens * hidden * 4 * heads * head_dim


def pairs(heads, head_dim, tokens):
    return 2 * 2 * heads * head_dim * tokens * (tokens + 1) / 2


def mlp(hidden, intermediate, tokens):
    return 2 * tokens * 3 * hidden * intermediate

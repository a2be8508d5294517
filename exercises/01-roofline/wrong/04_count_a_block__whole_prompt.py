# diagnosis: A token sees itself and those before it
def projections(hidden, heads, kv_heads, head_dim, tokens):
    query, key = heads * head_dim, kv_heads * head_dim
    return 2 * tokens * hidden * (query + key + key + query)


def pairs(heads, head_dim, tokens):
    return 2 * 2 * heads * head_dim * tokens**2


def mlp(hidden, intermediate, tokens):
    return 2 * tokens * 3 * hidden * intermediate

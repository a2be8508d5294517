# ---- all_heads: only the queries have heads
def projections(hidden, heads, kv_heads, head_dim, tokens):
    return 2 * tokens * hidden * 4 * heads * head_dim


# ---- mac: half the answer; a MAC is two FLOP
def projections(hidden, heads, kv_heads, head_dim, tokens):
    query, key = heads * head_dim, kv_heads * head_dim
    return tokens * hidden * (query + key + key + query)


def pairs(heads, head_dim, tokens):
    return 2 * heads * head_dim * tokens * (tokens + 1) / 2


def mlp(hidden, intermediate, tokens):
    return tokens * 3 * hidden * intermediate


# ---- no_gate: where is the gate
def mlp(hidden, intermediate, tokens):
    return 2 * tokens * 2 * hidden * intermediate


# ---- whole_prompt: A token sees itself and those before it
def pairs(heads, head_dim, tokens):
    return 2 * 2 * heads * head_dim * tokens**2

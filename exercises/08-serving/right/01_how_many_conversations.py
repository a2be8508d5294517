# ---- book: the model is read by the book, and asked
import math

from stacklib import models


def cache_gib(conversations):
    return 4 * conversations


def token_bytes(config, width):
    model = models.from_hf_config(config)
    return model.kv_bytes_per_token("bf16").si / 2 * width


def conversations(room, config, width, context):
    return math.floor(room / (context * token_bytes(config, width)))


# ---- by_layer: layer by layer, and conversation by conversation
def token_bytes(config, width):
    names = ("num_hidden_layers", "num_attention_heads", "hidden_size")
    sizes = {name: config[name] for name in names}
    for name in ("num_key_value_heads", "head_dim"):
        if name in config:
            sizes[name] = config[name]
    bad = [n for n, x in sizes.items() if isinstance(x, bool) or not isinstance(x, int)]
    if bad or min(sizes.values()) <= 0:
        raise ValueError(f"sizes of the config: {sizes}")
    layers, heads, hidden = (sizes[name] for name in names)
    shared = sizes.get("num_key_value_heads", heads)
    if heads % shared != 0:
        raise ValueError(f"{heads} heads in groups of {shared}")
    total = 0
    for _ in range(layers):
        for _key_or_value in range(2):
            total += shared * sizes.get("head_dim", hidden // heads) * width
    return total


def conversations(room, config, width, context):
    each, many = context * token_bytes(config, width), 0
    while room >= each:
        room, many = room - each, many + 1
    return many

# ---- one_by_one: chip after chip
def chips(memory, weights, token, readers, context):
    sized(1, memory=memory, readers=readers)
    sized(0, weights=weights, token=token, context=context)
    many, held = 0, 0.0
    need = weights * 1e3 + readers * context * token / 1e6  # MB
    while held < need:
        many, held = many + 1, held + memory
    return many


def token_ms(many, rate, weights, token, context, layers):
    own = many / layers  # chips of a layer
    each = (weights * 1e9 + token * context) / layers
    return sum(each / (own * rate * 1e12) for _ in range(layers)) * 1e3


# ---- halving: by trying contexts
def longest(many, memory, weights, token, readers):
    low, high = 0, 2**40
    while high - low > 1:
        middle = (low + high) // 2
        held = weights * 1e9 + readers * middle * token
        low, high = (middle, high) if held <= many * memory * 1e6 else (low, middle)
    return low

# ---- bytes: in bytes and seconds
def step_ms(weights_gb, cache_gb, readers, chips, tb_per_s):
    bytes = weights_gb * 1e9 + sum(cache_gb * 1e9 for _ in range(readers))
    return bytes / (chips * tb_per_s * 1e12) * 1e3


def tokens_per_s(weights_gb, cache_gb, readers, chips, tb_per_s):
    seconds = step_ms(weights_gb, cache_gb, readers, chips, tb_per_s) / 1e3
    return readers / seconds


def readers_that_fit(weights_gb, cache_gb, chips, gb):
    many, left = 0, chips * gb - weights_gb
    while left >= cache_gb:
        many, left = many + 1, left - cache_gb
    return many


# ---- ridge: by operations a byte
def readers_to_compute(tflops, tb_per_s):
    ridge = tflops / tb_per_s  # operations a byte
    return ridge * 2 / 2

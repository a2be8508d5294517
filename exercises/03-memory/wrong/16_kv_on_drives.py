# ---- all_hidden: Nothing hides the first layer's pages.
def step_time(layers, compute, fetch, ahead):
    if not ahead:
        return layers * (compute + fetch)
    return layers * max(compute, fetch)


# ---- bytes_wanted: A drive delivers whole pages.
def pages(picked, token_bytes, page_bytes):
    return math.ceil(len(picked) * token_bytes / page_bytes)


# ---- one_layer: Every layer reads its own pages.
def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    rate = pages(picked[0], token_bytes, page_bytes) * tokens_per_second
    return math.ceil(max(rate / reads, rate * page_bytes / bandwidth))


# ---- reads_only: The bandwidth is a limit too, not only the reads.
def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    each = sum(pages(layer, token_bytes, page_bytes) for layer in picked)
    return math.ceil(each * tokens_per_second / reads)

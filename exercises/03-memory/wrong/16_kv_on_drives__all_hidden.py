# diagnosis: Nothing hides the first layer's pages.
import math


def pages(picked, token_bytes, page_bytes):
    if token_bytes > page_bytes:
        return len(picked) * math.ceil(token_bytes / page_bytes)
    per_page = page_bytes // token_bytes
    return len({token // per_page for token in picked})


def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    each = sum(pages(layer, token_bytes, page_bytes) for layer in picked)
    rate = each * tokens_per_second
    return math.ceil(max(rate / reads, rate * page_bytes / bandwidth))


def step_time(layers, compute, fetch, ahead):
    if not ahead:
        return layers * (compute + fetch)
    return layers * max(compute, fetch)

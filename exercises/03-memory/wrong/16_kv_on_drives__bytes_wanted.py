# diagnosis: A drive delivers whole pages.
import math


def pages(picked, token_bytes, page_bytes):
    return math.ceil(len(picked) * token_bytes / page_bytes)


def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    each = sum(pages(layer, token_bytes, page_bytes) for layer in picked)
    rate = each * tokens_per_second
    return math.ceil(max(rate / reads, rate * page_bytes / bandwidth))


def step_time(layers, compute, fetch, ahead):
    if not ahead:
        return layers * (compute + fetch)
    return fetch + (layers - 1) * max(compute, fetch) + compute

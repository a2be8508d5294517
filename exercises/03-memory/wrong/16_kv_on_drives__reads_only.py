# diagnosis: The bandwidth is a limit too, not only the reads.
import math


def pages(picked, token_bytes, page_bytes):
    if token_bytes > page_bytes:
        return len(picked) * math.ceil(token_bytes / page_bytes)
    per_page = page_bytes // token_bytes
    return len({token // per_page for token in picked})


def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    each = sum(pages(layer, token_bytes, page_bytes) for layer in picked)
    return math.ceil(each * tokens_per_second / reads)


def step_time(layers, compute, fetch, ahead):
    if not ahead:
        return layers * (compute + fetch)
    return fetch + (layers - 1) * max(compute, fetch) + compute

# ---- counted: neighbours in sorted order, drives one by one, layers one by one
def pages(picked, token_bytes, page_bytes):
    if token_bytes > page_bytes:
        a_token, left = 0, token_bytes
        while left > 0:
            a_token, left = a_token + 1, left - page_bytes
        return sum(a_token for _ in picked)
    share = page_bytes // token_bytes
    count, last = 0, None
    for token in sorted(picked):
        count += token // share != last
        last = token // share
    return count


def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    rate = tokens_per_second * sum(
        pages(layer, token_bytes, page_bytes) for layer in picked
    )
    number = 1
    while number * min(reads, bandwidth / page_bytes) < rate:
        number += 1
    return number


def step_time(layers, compute, fetch, ahead):
    now, fetched = 0.0, fetch
    for _ in range(layers):
        began = max(now, fetched) if ahead else now + fetch
        now, fetched = began + compute, began + fetch
    return now


# ---- arrays: unique pages in NumPy, and quantities
import numpy as np

from stacklib.quantity import Quantity


def pages(picked, token_bytes, page_bytes):
    per_page = page_bytes // token_bytes
    if not per_page:
        return len(picked) * -(-token_bytes // page_bytes)
    return np.unique(np.asarray(picked) // per_page).size


def drives(picked, token_bytes, page_bytes, tokens_per_second, reads, bandwidth):
    each = np.array([pages(layer, token_bytes, page_bytes) for layer in picked])
    wanted = each.sum() * tokens_per_second / np.array([reads, bandwidth / page_bytes])
    return np.ceil(wanted).max()


def step_time(layers, compute, fetch, ahead):
    slower, quicker = sorted([compute, fetch], reverse=True)
    hidden = (layers - 1) * quicker if ahead else 0
    return Quantity(layers * (slower + quicker) - hidden, "s")

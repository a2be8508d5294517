# ---- counted: every place of an expert, each as likely
def copy_bytes(hidden):
    return sum(1 + (4 if i % 128 == 0 else 0) for i in range(hidden))


def network_bytes(tokens, top_k, hidden, gpus, node):
    away = sum(gpu // node != 0 for gpu in range(gpus))  # a token of GPU 0
    return tokens * top_k * copy_bytes(hidden) * away / gpus


def nvlink_bytes(tokens, top_k, hidden, gpus, node):
    near = sum(gpu // node == 0 and gpu != 0 for gpu in range(gpus))
    return tokens * top_k * copy_bytes(hidden) * near / gpus


# ---- table: who sends what to whom, in fractions
from fractions import Fraction


def copy_bytes(hidden):
    return Fraction(hidden * 33, 32)


def _table(tokens, top_k, hidden, gpus):
    each = Fraction(tokens * top_k, gpus) * copy_bytes(hidden)
    return dict.fromkeys(range(gpus), each)


def network_bytes(tokens, top_k, hidden, gpus, node):
    table = _table(tokens, top_k, hidden, gpus)
    return float(sum(size for to, size in table.items() if to >= node))


def nvlink_bytes(tokens, top_k, hidden, gpus, node):
    table = _table(tokens, top_k, hidden, gpus)
    return float(sum(size for to, size in table.items() if 0 < to < node))


def least_us(tokens, top_k, hidden, gpus, node, nvlink, port):
    case = (tokens, top_k, hidden, gpus, node)
    times = [network_bytes(*case) / port, nvlink_bytes(*case) / nvlink]
    return sorted(times)[-1] / 1000

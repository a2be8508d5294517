# ---- cases: two cases apart, batches tried
def one_by_one(kernels, work, submit):
    if work > submit:
        return submit + kernels * work
    return kernels * submit + work


def as_graph(kernels, work, replay, node):
    return replay + kernels * work + kernels * node


def free_batch(submit, read, each):
    batch = 1
    while read + each * batch < submit - 1e-12:
        batch += 1
    return batch


# ---- arrays: NumPy's own maximum
import numpy as np


def one_by_one(kernels, work, submit):
    return np.maximum(kernels * submit + work, submit + kernels * work)


def as_graph(kernels, work, replay, node):
    return np.sum([replay, *([node + work] * kernels)])


def free_batch(submit, read, each):
    return np.int64(np.clip(np.ceil((submit - read) / each), 1, None))

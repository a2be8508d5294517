# ---- summed: their times do not add up
def one_by_one(kernels, work, submit):
    return kernels * (submit + work)


# ---- last: The last kernel still runs
def one_by_one(kernels, work, submit):
    return kernels * max(submit, work)


# ---- device: all submissions come first
def one_by_one(kernels, work, submit):
    return submit + kernels * work


# ---- each_node: submitted once
def as_graph(kernels, work, replay, node):
    return kernels * (replay + work + node)


# ---- between: before the first kernel, too
def as_graph(kernels, work, replay, node):
    return replay + kernels * work + (kernels - 1) * node


# ---- floor: lies above the quotient
def free_batch(submit, read, each):
    return max(1, int((submit - read) / each))


# ---- no_reading: take it off first
def free_batch(submit, read, each):
    return max(1, math.ceil(submit / each))


# ---- below_one: one or more, however long
def free_batch(submit, read, each):
    return math.ceil((submit - read) / each)

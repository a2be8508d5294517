# ---- no_scales: The scales travel, too
def copy_bytes(hidden):
    return hidden


# ---- all_leave: Not all copies leave
def network_bytes(tokens, top_k, hidden, gpus, node):
    return tokens * top_k * copy_bytes(hidden)


# ---- own_gpu: A copy for an expert of the token's own GPU crosses no link
def nvlink_bytes(tokens, top_k, hidden, gpus, node):
    return tokens * top_k * node / gpus * copy_bytes(hidden)


# ---- summed: the slower one counts, not the sum
def least_us(tokens, top_k, hidden, gpus, node, nvlink, port):
    near = nvlink_bytes(tokens, top_k, hidden, gpus, node) / nvlink
    far = network_bytes(tokens, top_k, hidden, gpus, node) / port
    return (near + far) / 1e3


# ---- bits: GB/s are no Gbit/s
def least_us(tokens, top_k, hidden, gpus, node, nvlink, port):
    near = nvlink_bytes(tokens, top_k, hidden, gpus, node) * 8 / nvlink
    far = network_bytes(tokens, top_k, hidden, gpus, node) * 8 / port
    return max(near, far) / 1e3

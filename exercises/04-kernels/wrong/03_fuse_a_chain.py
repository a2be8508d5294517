# ---- each_reads: A tensor from outside is read once for a kernel
def fused(size, program, kernels, results):
    never, total = gone(program, kernels, results), 0
    for kernel in kernels:
        for made, reads in program:
            if made in kernel:
                total += sum(size[n] for n in set(reads) - set(kernel))
        total += sum(size[name] for name in set(kernel) - never)
    return total


# ---- all_written: You write tensors that nobody outside
def fused(size, program, kernels, results):
    total = 0
    for kernel in kernels:
        read = {name for made, reads in program if made in kernel for name in reads}
        total += sum(size[name] for name in read - set(kernel))
        total += sum(size[name] for name in kernel)
    return total


# ---- read_inside: is wanted outside of its kernel
def gone(program, kernels, results):
    found = set()
    for kernel in kernels:
        read = {name for made, reads in program if made in kernel for name in reads}
        found |= read & set(kernel)
    return found

# ---- edges: from the edges, by maker and reader
def unfused(size, program):
    total = 0
    for made, reads in program:
        total += size[made]
        for name in dict.fromkeys(reads):
            total += size[name]
    return total


def homes(kernels):
    return {made: number for number, kernel in enumerate(kernels) for made in kernel}


def gone(program, kernels, results):
    home = homes(kernels)
    crossing = set(results)
    for made, reads in program:
        for name in reads:
            if home.get(name) != home[made]:
                crossing.add(name)
    return frozenset(home) - crossing


def fused(size, program, kernels, results):
    home = homes(kernels)
    loads = {(home[made], name) for made, reads in program for name in reads}
    read = sum(size[name] for kernel, name in loads if home.get(name) != kernel)
    lost = gone(program, kernels, results)
    return read + sum(size[made] for made in home if made not in lost)


# ---- saved: what is unfused, less what each edge saves
def gone(program, kernels, results):
    readers = {}
    for made, reads in program:
        for name in reads:
            readers.setdefault(name, set()).add(made)
    return {
        made
        for kernel in kernels
        for made in kernel
        if made not in results and readers.get(made, {None}) <= set(kernel)
    }


def fused(size, program, kernels, results):
    total = unfused(size, program) - sum(
        size[made] for made in gone(program, kernels, results)
    )
    for kernel in kernels:
        seen = set(kernel)
        for made, reads in program:
            if made in kernel:
                for name in set(reads):
                    if name in seen:
                        total -= size[name]
                    seen.add(name)
    return total

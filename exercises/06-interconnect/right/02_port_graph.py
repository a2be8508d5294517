# ---- union: sets that merge, links dealt in rounds
def islands(gpus, wires):
    root = {("gpu", gpu): ("gpu", gpu) for gpu in range(gpus)}

    def top(node):
        root.setdefault(node, node)
        while root[node] != node:
            node = root[node]
        return node

    for gpu, chip in wires:
        root[top(("gpu", gpu))] = top(("chip", chip))
    return len({top(("gpu", gpu)) for gpu in range(gpus)})


def meeting(gpus, wires):
    held = {gpu: set() for gpu in range(gpus)}
    for gpu, chip in wires:
        held[gpu].add(chip)
    found = len(wires) + 1
    for one in range(gpus):
        for other in range(one):
            found = min(found, len(held[one] & held[other]))
    return found


def wire(gpus, links, chips, ports):
    free = [ports] * chips
    made = []
    for gpu in range(gpus):
        order = sorted(range(chips), key=lambda chip: -free[chip])
        for link in range(links):
            chip = order[link % chips]
            if free[chip] == 0:
                raise ValueError(f"no port for link {link} of GPU {gpu}")
            free[chip] -= 1
            made.append((gpu, chip))
    return made


# ---- matrix: paths by products of a matrix
import numpy as np


def _links(gpus, wires):
    chips = sorted({chip for _, chip in wires})
    seen = np.zeros((gpus, max(1, len(chips))), dtype=int)
    for gpu, chip in wires:
        seen[gpu, chips.index(chip)] = 1
    return seen


def islands(gpus, wires):
    seen = _links(gpus, wires)
    near = (seen @ seen.T + np.eye(gpus, dtype=int)) > 0
    for _ in range(gpus.bit_length()):
        near = near.astype(int) @ near > 0
    return len(np.unique(near, axis=0))


def meeting(gpus, wires):
    seen = _links(gpus, wires)
    return (seen @ seen.T)[~np.eye(gpus, dtype=bool)].min()


def wire(gpus, links, chips, ports):
    if gpus * links > chips * ports:
        raise ValueError("more links than ports")
    at = np.arange(gpus * links)
    return np.stack([at // links, at % chips], axis=1)

"""Which edges are gone?

level: build

A program is a list of operations in the order they run: `(made, reads)`, the tensor
that an operation makes and the list of those it reads. `size` gives the bytes of each
tensor, and `results` are those that are wanted at the end. `kernels` cuts the program:
a list of groups, each a list of the tensors that are made in one kernel.

Run by itself, an operation reads each tensor it names from memory, once even where it
names it again, and writes what it makes. A fused kernel reads a tensor that was made
outside of it once, however many of its operations want it. What it makes itself it has
at hand, and writes it only if another kernel reads it or it is a result.

- `unfused(size, program)`: bytes if every operation is a kernel of its own.
- `fused(size, program, kernels, results)`: bytes of the program cut like that.
- `gone(program, kernels, results)`: the tensors that are never written, as a set.

hint: For each kernel make three sets: what it makes, what its operations read, and what
operations outside of it read. Its traffic is the second less the first, and of the
first what is in the third or among the results.
"""

from stacklib.grading import expect
from stacklib.kernels.launch.fuse import KERNELS, RULES, fuse
from stacklib.kernels.launch.fuse_graphs import attention_graph, layernorm_graph
from stacklib.pages.kernels.fusion import graphs

# ---- your answer ----


def unfused(size, program):
    """Bytes, each operation by itself."""
    return sum(
        size[made] + sum(size[name] for name in set(reads)) for made, reads in program
    )


def gone(program, kernels, results):
    """Tensors that stay on the chip."""
    found = set()
    for kernel in kernels:
        outside = {
            name for made, reads in program if made not in kernel for name in reads
        }
        found |= set(kernel) - outside - set(results)
    return found


def fused(size, program, kernels, results):
    """Bytes, kernel by kernel."""
    never, total = gone(program, kernels, results), 0
    for kernel in kernels:
        read = {name for made, reads in program if made in kernel for name in reads}
        total += sum(size[name] for name in read - set(kernel))
        total += sum(size[name] for name in set(kernel) - never)
    return total


# ---- tests ----

GRAPHS = {
    "a layer norm": layernorm_graph(64, 256),
    "one head of attention": attention_graph(tokens=32, head_dim=16, hidden=64),
    "a norm and its residual": graphs.norm(128),
    "an MLP": graphs.mlp(4),
    "scores and softmax": graphs.attention(16, 64),
}
CUTS = ((), KERNELS, RULES)


def told(name, rules):
    """A case, and what the room counts of it."""
    graph = GRAPHS[name]
    found = fuse(graph, rules)
    size = {tensor: graph.of(tensor).bytes for tensor in graph.tensors}
    program = [(op.output, list(op.inputs)) for op in graph.ops]
    kernels = [list(kernel) for kernel in found.kernels]
    return size, program, kernels, list(graph.results), found


def run(function, *given):
    names = {
        unfused: ("size", "program"),
        fused: ("size", "program", "kernels", "results"),
        gone: ("program", "kernels", "results"),
    }[function]
    return expect.call(function, dict(zip(names, given, strict=True)))


def all_reads(size, program, kernels, results, never):
    """Every operation of a kernel reads for itself what came from outside."""
    return sum(
        size[n]
        for kernel in kernels
        for made, reads in program
        if made in kernel
        for n in set(reads) - set(kernel)
    ) + sum(size[made] for made, _ in program if made not in never)


def all_writes(size, program, kernels, results, never):
    """Every tensor is written, wanted or not."""
    return sum(
        size[n]
        for kernel in kernels
        for n in {r for m, reads in program if m in kernel for r in reads} - set(kernel)
    ) + sum(size[made] for made, _ in program)


def no_outside(size, program, kernels, results, never):
    """What a kernel's own operations read is thought to stay there."""
    kept = {
        n for k in kernels for m, reads in program if m in k for n in reads if n in k
    }
    whole = all_writes(size, program, kernels, results, never)
    return whole - sum(size[n] for n in kept)


SLIPS = {
    "A tensor from outside is read once for a kernel, not once for each operation.": (
        all_reads
    ),
    "You write tensors that nobody outside of their kernel reads.": all_writes,
    "A tensor that is read inside may be wanted outside, too, and is written then.": (
        no_outside
    ),
}


def test_unfused():
    for name in GRAPHS:
        size, program, _, _, found = told(name, ())
        mine = expect.plain(run(unfused, size, program), "B")
        if mine != found.unfused_bytes:
            raise expect.Mistake(f"{name}: {mine:,.0f} B, not {found.unfused_bytes:,}")


def test_gone():
    for name in GRAPHS:
        for rules in CUTS:
            _, program, kernels, results, found = told(name, rules)
            mine, right = (
                set(run(gone, program, kernels, results)),
                set(found.unwritten),
            )
            if mine - right:
                one = min(mine - right)
                raise expect.Mistake(f"{name}: {one!r} is wanted outside of its kernel")
            if right - mine:
                one = min(right - mine)
                raise expect.Mistake(f"{name}: nobody outside reads {one!r}")


def test_fused():
    wrong = []
    for name in GRAPHS:
        for rules in CUTS:
            size, program, kernels, results, found = told(name, rules)
            mine = expect.plain(run(fused, size, program, kernels, results), "B")
            if mine != found.fused_bytes:
                case = size, program, kernels, results, set(found.unwritten)
                wrong.append((name, case, mine, found.fused_bytes))
    for text, slip in SLIPS.items():
        if wrong and all(slip(*case) == mine for _, case, mine, _ in wrong):
            raise expect.Mistake(text)
    if wrong:
        name, _, mine, right = wrong[0]
        raise expect.Mistake(f"{name}: {mine:,.0f} B, not {right:,}")
    size, program, kernels, results, found = told("a norm and its residual", KERNELS)
    times = found.unfused_bytes / run(fused, size, program, kernels, results)
    expect.reading("a norm one by one, over fused", round(times, 2))

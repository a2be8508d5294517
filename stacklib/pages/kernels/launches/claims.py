"""Claims on launches, on graphs, and on compiling at run time."""

from stacklib import gpu
from stacklib.evidence import Finding, claim
from stacklib.kernels.launch.launches import cost, launch_time, replay_time
from stacklib.quantity import chosen
from stacklib.quantity.records import quotes

MANY = 1000  # kernels that do nothing


def gain(end: str, node_end: str) -> float:
    """Empty kernels launched one by one, over the same in one graph.

    ``end``, ``node_end``: of the costs of a launch, and of a step between nodes.
    """
    launch, node = cost("driver", end).si, cost("node", node_end).si
    submit = cost("replay", end).si
    apart = launch_time(MANY, 0.0, submit_s=launch)
    return float(apart / replay_time(MANY, 0.0, replay_s=submit, node_s=node))


@claim("kernel-launch-overhead")
def overhead() -> Finding:
    """A launch through the driver, as others measured it."""
    return Finding(
        cost("driver", "low"),
        to=cost("driver", "high"),
        why="A launch, host side. Nothing that is called a launch takes 200 us; an "
        "operator of an eager framework takes the low end, from memory alone.",
    )


@claim("cuda-graph-replay")
def replay() -> Finding:
    """By the number of nodes, which the document does not say."""
    submit, low, high = cost("replay", "low"), cost("node", "low"), cost("node", "high")
    left = chosen(10, "us", label="the claimed time") - submit
    return Finding.open(
        f"Submitting a straight graph takes {submit} on the host whatever its length "
        f"({quotes()['launch_replay.low'].document}), and the device {low} to {high} "
        "from one node to the next. The claimed time is right for "
        f"{(left / high).si:.0f} to {(left / low).si:.0f} empty kernels. To settle "
        "it: the number of nodes and the device of the document's figure."
    )


@claim("cuda-graph-speedup")
def speedup() -> Finding:
    """Of a thousand empty kernels, between the ends of what was measured."""
    ours = (cost("guide", end) / cost("guide-replay", "low") for end in ("low", "high"))
    low, high = (f"{ratio.si:.0f}" for ratio in ours)
    return Finding.open(
        "Submissions against steps from node to node give "
        f"{gain('low', 'high'):.2g} to {gain('high', 'low'):.2g}, by which ends of the "
        f"measured ranges meet. The document's own figures give {low} to {high} and "
        "set one launch against the replay of a whole graph. To settle it: both ways "
        "timed on one device, with the kernels and nodes of the document's figure."
    )


@claim("ptx-jit-time")
def compiling() -> Finding:
    """It depends on the code's size, which the document does not say."""
    return Finding.open(
        "The driver compiles PTX when a module is loaded, in a time that grows with "
        "the code: small modules take milliseconds, a library's fat binary many "
        "seconds. To settle it: cuModuleLoadData timed on an H100 with its cache of "
        "compiled code off (CUDA_CACHE_DISABLE=1), beside the size of each PTX file."
    )


@claim("sass-compat-rubin")
def runs_later() -> Finding:
    """What the assembler says of an instruction that one architecture has."""
    general = gpu.accepted("mma.sync", "sm_100")
    special = gpu.accepted("wgmma.mma_async", "sm_100a")
    return Finding.depends(
        "the code has none of Hopper's own instructions",
        "Source: NVIDIA CUDA C++ programming guide, binary and PTX compatibility: PTX "
        "for compute_90 is compiled for every later architecture, that for compute_90a "
        "for none. mma.sync "
        f"becomes {general.text} for a B200. Not for the kernels of the same page, "
        f"which need wgmma: {special.text}.",
    )

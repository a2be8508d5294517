"""Claims on starting RDMA: who takes part, what is written, how many a second."""

from stacklib.evidence import Finding, claim
from stacklib.interconnect.queues.wqe import SEGMENTS, WIDTHS, write_wqe
from stacklib.pages.interconnect import rdma as page
from stacklib.quantity import counted, one_of


def element() -> int:
    """Bytes of an element that the encoder makes."""
    return len(write_wqe(5, 0x1A2B, 0x1000, 0x1234, 0x2000, 0x77, 7392))


def fields() -> int:
    """Numbers that whoever asks for a write has to give."""
    return len(WIDTHS)


def per_segment() -> int:
    """Bytes of each of its segments."""
    return element() // SEGMENTS


def segments() -> int:
    """Segments of an element, read from its control segment."""
    return write_wqe(5, 0x1A2B, 0x1000, 0x1234, 0x2000, 0x77, 7392)[7]


@claim("ibgda-vs-proxy-rate")
def rates() -> Finding:
    """Both rates are published by one source."""
    gain = page.rate("gpu") / page.rate("proxy")
    alone = page.message("proxy") / page.message("gpu")
    return Finding(
        page.rate("gpu") / one_of("s"),
        why=f"Both rates as NVIDIA publishes them ({page.NVIDIA}), for messages of a "
        f"few bytes: {gain:.3} times. It is a ratio of rates: one message takes "
        f"{alone.si:.2f} times as long from a proxy.",
    )


@claim("wqe-48-bytes")
def size() -> Finding:
    """The encoder's bytes, which two public sources lay out alike."""
    return Finding(
        counted(element, unit="B", label="bytes of an element"),
        why="Control, remote address and data segment. In the ring each keeps a basic "
        "block of 64 bytes.",
    )


@claim("wqe-three-fields", right_if="segments are meant")
def parts() -> Finding:
    """What one has to give, and the pieces of which it is made."""
    return Finding(
        counted(fields, label="numbers that ask for a write"),
        why="Index and queue pair; address and key there; address, key and size here. "
        "They stand in three segments, of which the first is control.",
        then=counted(segments, label="segments of an element"),
    )


def by_cpu(start: str) -> int:
    """Steps of a write that a CPU does."""
    return sum(step.by == "CPU" for step in page.steps(start))


@claim("gpudirect-zero-cpu")
def nobody() -> Finding:
    """Steps of a CPU, by who starts the write."""
    return Finding.depends(
        "the GPU rings itself (IBGDA)",
        "Source: DeepEP, ibgda_device.cuh at dd758caf. There the GPU writes the "
        f"element and rings: {by_cpu('gpu') or 'none'} of its steps is a CPU's. With a "
        f"proxy thread, which NCCL and NVSHMEM use by default, {by_cpu('proxy')} of "
        f"{len(page.steps('proxy'))} is. The bytes never pass a CPU.",
    )


@claim("deepep-sm-split")
def partition() -> Finding:
    """SMs of the chip less those that its report keeps for communication."""
    return Finding(
        page.computing(),
        why="An H800 has the SMs of an H100; its links are what was cut. Ports that a "
        "GPU drives itself need SMs too: to write elements and to copy what comes.",
    )

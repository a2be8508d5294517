"""Family D: a published collective, as ``interconnect.selection`` predicts it.

The row says what was exchanged, by how many ranks of which device, in how many nodes;
its software, whether calls came from Python and whether an engine's own kernels ran.
Of a network that a row does not describe, a port of the device's generation is
assumed. Experts' exchanges are those of ``interconnect.experts``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stacklib.hardware import UnknownSpec
from stacklib.interconnect.experts.count import expect
from stacklib.interconnect.experts.dispatch import dispatch_bytes, dispatch_time
from stacklib.interconnect.selection import constants as c
from stacklib.interconnect.selection.between import NETWORKS
from stacklib.interconnect.selection.machine import Fabric, fabric
from stacklib.interconnect.selection.timed import (
    KERNEL,
    bus_factor,
    cell,
    collective_time,
)
from stacklib.interconnect.selection.topo import pcie_fabric
from stacklib.quantity import UnknownName, quoted

from ..measurements import Measurement, Refusal
from ..systems import DeviceRefusal, device_of
from ..validate.score import message_bytes
from .registry import PREDICTORS, Forecast, Predict

_NAMES = {
    "allreduce": "all_reduce",
    "reducescatter": "reduce_scatter",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
    "a2a": "all_to_all",
    "broadcast": "broadcast",
    "bcast": "broadcast",
    "sendrecv": "send_recv",
    "p2p": "send_recv",
    "pointtopoint": "send_recv",
    "gather": "gather",
    "scatter": "scatter",
    "reduce": "reduce",
}
_RANKS = (
    "ngpus",
    "ranks",
    "nranks",
    "n_ranks",
    "gpus",
    "n_gpus",
    "num_gpus",
    "world_size",
    "world",
    "tp",
    "ep",
)
_NODES = ("nodes", "n_nodes", "num_nodes", "nnodes")
_SIZES = (
    "msg_bytes",
    "msg_size_as_stored",
    "size_bytes",
    "bytes",
    "message_bytes",
    "size",
)
_ELEMENTS = ("msg_elems", "elements", "count")
_WIDTH = {
    "fp32": 4,
    "float32": 4,
    "float": 4,
    "fp8": 1,
    "int8": 1,
    "uint8": 1,
    "fp64": 8,
    "double": 8,
}
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}  # powers of two: nccl-tests prints so
_ALGORITHMS = {
    "ring": "ring",
    "tree": "tree",
    "nvls": "nvls",
    "nvlstree": "nvls_tree",
    "nvls_tree": "nvls_tree",
    "collnet": "collnet_direct",
    "pat": "pat",
}
_LARGE = 8 << 30  # bytes of a message that is only called large
# Kernels of an engine, or of a library that has no rings.
_DIRECT = (
    "custom",
    "mscclpp",
    "mscclplusplus",
    "one-shot",
    "oneshot",
    "two-shot",
    "twoshot",
    "quickreduce",
    "flashinfer",
    "symm",
)
# Each call comes from Python, and is timed by itself.
_HOST = ("torch", "vidur", "all_reduce_bench", "jax", "python")
_COMPILED = ("nccl-tests", "rccl-tests", "nccl_tests", "rccl_tests", "graph", "custom")
# DeepEP's tables name a generation; its links and ports are all that is asked for.
_GENERATIONS = {"sm90": "h100_sxm", "sm100": "b200_sxm"}
_PORT = re.compile(
    r"(\d+)\s*g(?:be\b|(?:b/s|bps|bit/s|bit)?"
    r"\s*(?:ib|infini|roce|nic|cx|[ehnx]dr|efa|tcpx|ether|sling))"
)
_NAMED = re.compile(r"\b([ehnx]dr)(?:[1248]00)?\b")  # a port of four lanes, by name
_LANES = {"edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}  # Gbit/s
_FASTEST = 800  # Gbit/s of a port sold; clouds name what all ports of a node carry
# Cards that bridges join in pairs, where a source names no form of them.
_PAIRED = {"h100_sxm": "h100_pcie", "a100_sxm_80gb": "a100_pcie_80gb"}
# Switches of NVIDIA's DGX-2 join sixteen V100, where its boards of eight join eight.
_SIXTEEN = re.compile(r"\b(?:dgx|hgx)[- ]?2\b|\bsxm3\b")
# One process that holds several GPUs starts its kernels on one after the other.
_HOLDS = re.compile(r"(?:^|\s)-g[ =]?(\d+)\b")
_START = (quoted("launch_driver.low").si + quoted("launch_driver.high").si) / 2
_V3 = {"experts": 256, "top_k": 8}  # experts of DeepSeek-V3, which DeepEP is timed with


def collective_of(row: Measurement) -> str:
    """The collective that a row names."""
    name = re.sub(r"[\s_\-+/]", "", row.subject.lower())
    for word, found in _NAMES.items():
        if word in name:
            return found
    raise Refusal(f"no collective is known in model_or_kernel {row.subject!r}")


def _first(row: Measurement, keys: tuple[str, ...]) -> int | None:
    return next((row.integer(k) for k in keys if k in row.config), None)


def size_of(row: Measurement) -> float:
    """Bytes of a row's message."""
    if str(row.config.get("msg", "")).lower() in ("large", "peak", "max"):
        return _LARGE
    found = message_bytes(row)
    for key in _SIZES if found is None else ():
        if key in row.config:
            text = row.text(key).strip().lower()
            said = re.fullmatch(r"([\d.]+(?:e\d+)?)\s*([kmgt])i?b?", text)
            found = float(said[1]) * (1 << _UNITS[said[2]]) if said else row.number(key)
    for key in _ELEMENTS if found is None else ():
        if key in row.config:
            found = row.number(key) * _WIDTH.get(row.text("dtype", "fp16").lower(), 2)
    if found is None and "tokens" in row.config:
        row.number("hidden")  # names what is missing
    if found is None and row.metric.startswith("max_"):
        return _LARGE
    if found is None:
        raise Refusal("config does not give 'msg_bytes', nor a shape that has them")
    return found


def _device(row: Measurement) -> tuple[str, int]:
    try:
        return device_of(row.system)
    except DeviceRefusal:
        for word, key in _GENERATIONS.items():
            if re.search(rf"\b{word}\b", row.system.lower()):
                return key, 1
        raise


def _port(row: Measurement, local: int) -> float | None:
    """Bytes a second of a chip's network port, where the row describes it."""
    for key in ("nic_gbps", "port_gbps", "network_gbps"):
        if key in row.config:
            return row.number(key) * 1e9 / 8
    text = f"{row.system} {row.settings}".lower()
    said, named = _PORT.search(text), _NAMED.search(text)
    if not said:
        return _LANES[named[1]] * 1e9 / 8 if named else None
    return float(said[1]) * 1e9 / 8 / (local if float(said[1]) > _FASTEST else 1)


def _boards(row: Measurement, key: str, ranks: int) -> Fabric:
    """Boards of one machine whose tree the row tells."""
    if row.config.get("iommu") == "on":
        raise Refusal("iommu=on: each copy between boards is looked up, not modelled")
    given: dict[str, Any] = {"path": row.text("path")}
    if "under" in row.config:
        given["under"] = row.integer("under")
    if "peers" in row.config:
        given["peer"] = row.text("peers").lower() == "yes"
    if "p2p_level" in row.config:
        given["level"] = row.text("p2p_level")
    return pcie_fabric(key, ranks, **given)


def fabric_of(row: Measurement) -> Fabric:
    """The machine that a row was measured on."""
    key, many = _device(row)
    ranks = _first(row, _RANKS) or many
    if ranks < 2:
        raise Refusal("config does not give 'ngpus': a collective needs two ranks")
    if "path" in row.config:
        return _boards(row, key, ranks)
    nodes = _first(row, _NODES)
    if nodes is None:
        said = re.search(r"\b(\d+) ?x? ?nodes?\b", row.system.lower())
        nodes = int(said[1]) if said else None
    # Bridges join two cards; beyond them is PCI Express.
    system, joined = row.system.lower(), _first(row, ("domain",))
    if "pairwise" in system:
        key, joined = _PAIRED.get(key, key), 2
    if joined is None and _SIXTEEN.search(system):
        joined = 16
    words = re.findall(r"[a-z]+", system)
    network = next((name for name in reversed(NETWORKS) if name in words), None)
    return fabric(
        key,
        ranks,
        nodes=nodes,
        port=_port(row, ranks // (nodes or 1)),
        domain=joined,
        network=network,
    )


def _algorithm(row: Measurement) -> tuple[str | None, str | None]:
    """Algorithm and protocol, where a row says what ran."""
    for key in ("algo", "algorithm"):
        if key in row.config:
            name, _, way = row.text(key).lower().partition("/")
            said = way or (row.text("proto", "") if "proto" in row.config else "")
            return _ALGORITHMS.get(name), said.lower() or None
    words = re.split(r"[\s=_,]+", f"{row.software} {row.subject}".lower())
    if row.config.get("msg"):
        return next((_ALGORITHMS[w] for w in words if w in _ALGORITHMS), None), None
    set_ = re.search(r"nccl_algo=(\w+)", row.software.lower())
    return (_ALGORITHMS.get(set_[1]) if set_ else None), None


def _possible(
    collective: str, size: float, on: Fabric, algorithm: str, protocol: str | None
) -> bool:
    """Whether the model has what a row says ran."""
    try:
        collective_time(collective, size, on, algorithm=algorithm, protocol=protocol)
    except ValueError:
        return False
    return True


def _answer(
    row: Measurement, collective: str, ranks: int, size: float
) -> Callable[[float, str], Forecast]:
    metric = row.metric
    if metric.startswith("latency") or metric in ("time", "duration"):
        return lambda time, bound: Forecast(time, "s", bound)
    factor = bus_factor(collective, ranks)
    if "algbw" in metric or metric == "throughput":
        factor = 1.0
    elif "bus" not in metric and not metric.endswith("bandwidth"):
        raise Refusal(f"no model of collectives for metric {metric!r}")
    return lambda time, bound: Forecast(factor * size / time, "B/s", bound)


def _software(row: Measurement) -> tuple[bool, bool]:
    """Whether an engine's own kernels run, and whether each is called from Python."""
    text = f"{row.software};{row.subject};{row.settings}".lower()
    text = text.replace(" ", "").replace("+", "p")
    direct = any(word in text for word in _DIRECT)
    compiled = any(word in text for word in _COMPILED)
    host = any(word in text for word in _HOST) and not compiled
    return direct, host or "eager" in text


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: links, size, software, ranks, nodes; experts' exchanges apart."""
    if _of_experts(row):
        ranks, local = _groups(row)
        return "experts", "network" if ranks > local else "nvlink"
    direct, host = _software(row)
    return cell(size_of(row), fabric_of(row), direct=direct, host=host)


def _of_experts(row: Measurement) -> bool:
    return "moe" in row.subject.lower() or "deepep" in row.software.lower()


def prepare(row: Measurement) -> Predict:
    """A collective ready to be predicted."""
    try:
        if _of_experts(row):
            return _experts(row)
        collective, on, size = collective_of(row), fabric_of(row), size_of(row)
        if size < 1:
            raise Refusal(f"a message of {size:g} bytes: one byte at least")
        answer = _answer(row, collective, on.ranks, size)
        algorithm, protocol = _algorithm(row)
        if algorithm and not _possible(collective, size, on, algorithm, protocol):
            algorithm = protocol = None  # a name of another release, or a misprint
        direct, host = _software(row)
        holds = _HOLDS.search(f"{row.software};{row.settings}".lower())
        starts = min(int(holds[1]), on.ranks) * _START if holds else 0.0

        def forecast() -> Forecast:
            found = collective_time(
                collective,
                size,
                on,
                algorithm=algorithm,
                protocol=protocol,
                direct=direct,
                host=host,
            )
            if starts > found.time:
                return answer(starts, "launch")
            waits = found.alpha + found.fill > found.time / 2
            return answer(found.time, "latency" if waits else "link")

        forecast()  # what the model has no answer for is refused here
    except (UnknownSpec, UnknownName, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    return forecast


def _experts(row: Measurement) -> Predict:
    """A dispatch or combine of a mixture of experts by DeepEP's kernels."""
    name, metric = row.subject.lower(), row.metric
    key, _ = _device(row)
    ranks, local = _groups(row)
    on = fabric(key, ranks, nodes=max(1, ranks // local), port=_port(row, local))
    case: dict[str, Any] = {"ranks": ranks, "ranks_per_node": on.local}
    if "bottleneck" in metric:
        few = 4 if "top4" in row.settings else None
        copies = expect(once="node", top_nodes=few, **case, **_V3)
        if on.nodes == 1:
            return lambda: Forecast(on.rate, "B/s", "link")
        slow = max(copies.network / on.port, copies.nvlink / on.rate)
        return lambda: Forecast(copies.nodes / slow, "B/s", "link")
    tokens, top = row.number("tokens"), row.integer("topk")
    fp8 = "dispatch" in name and "bf16" not in name
    sent = dispatch_bytes(
        tokens,
        top,
        row.number("hidden"),
        "fp8" if fp8 else "bf16",
        128 if fp8 else None,
        experts=_V3["experts"] if 256 % ranks == 0 else ranks,
        header=16 if fp8 else 0,
        **case,
    )
    hop = c.HOP["network" if on.nodes > 1 else "nvlink"]["ring"][-1] * 1e-6

    def time() -> float:
        wait = 2 * KERNEL + hop  # one kernel sends, one receives
        return dispatch_time(sent, nvlink=on.rate, network=on.port, latency=wait)

    if metric.startswith("latency"):
        return lambda: Forecast(time(), "s", "link")
    if metric.endswith("bandwidth"):
        return lambda: Forecast(sent.sent / time(), "B/s", "link")
    raise Refusal(f"no model of experts' exchanges for metric {metric!r}")


def _groups(row: Measurement) -> tuple[int, int]:
    """Ranks of an exchange, and ranks of a node."""
    said = re.fullmatch(r"EP (\d+)(?:x(\d+))?", str(row.config.get("topology", "")))
    if said:
        local = int(said[1])
        return local * int(said[2] or 1), local
    found = _first(row, ("ep", *_RANKS))
    if found is None:
        raise Refusal("config does not give 'ep': ranks that hold the experts")
    return found, min(found, 8)


PREDICTORS["D"] = prepare

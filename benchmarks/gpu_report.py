"""What a GPU says about itself, and the versions a measurement depends on."""

import importlib.metadata
import itertools
import platform
import subprocess
from typing import Any

from gpu_timing import reason

L2_IF_UNKNOWN = 128 * 2**20
L2_REHEARSED = 2**20


def describe(torch: Any, cuda: bool) -> tuple[str | None, int, dict[str, Any]]:
    """How nvidia-smi knows the device, its L2 in bytes, and the device report."""
    if not cuda:
        name = platform.processor() or platform.machine() or "cpu"
        return None, L2_REHEARSED, {"name": name}
    props = torch.cuda.get_device_properties(0)
    l2 = getattr(props, "L2_cache_size", 0) or L2_IF_UNKNOWN
    uuid = getattr(props, "uuid", None)
    smi_id = f"GPU-{uuid}" if uuid else "0"  # not recorded: it names one card
    report = {
        "name": props.name,
        "multiprocessors": props.multi_processor_count,
        "compute_capability": f"{props.major}.{props.minor}",
        "memory_bytes": props.total_memory,
        "l2_bytes": l2,
        "torch_built_for": torch.cuda.get_arch_list(),
    }
    return smi_id, l2, {**report, **smi(smi_id)}


def smi(device: str) -> dict[str, str]:
    """Driver, clock and power limits as nvidia-smi reports them."""
    names = {
        "driver": "driver_version",
        "clock_sm_max": "clocks.max.sm",
        "clock_memory_max": "clocks.max.mem",
        "power_limit": "power.limit",
        "ecc": "ecc.mode.current",
    }
    query = f"--query-gpu={','.join(names.values())}"
    command = ["nvidia-smi", f"--id={device}", query, "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as error:
        return {"nvidia_smi": reason(error)}
    cells = [cell.strip() for cell in done.stdout.strip().split(",")]
    if done.returncode or len(cells) != len(names):
        return {"nvidia_smi": (done.stdout + done.stderr).strip()[:200]}
    return dict(zip(names, cells, strict=True))


def limit_of(report: dict[str, Any]) -> float | None:
    """Watts of the limit in force, where nvidia-smi tells one."""
    try:
        return float(str(report["power_limit"]).split()[0])
    except (KeyError, ValueError):
        return None


def at_limit(points: list[list[float]], limit: float) -> tuple[float, float]:
    """Watts and speed foretold at a limit, between those of a prediction's points."""
    limit = min(max(limit, points[0][0]), points[-1][0])
    pairs = itertools.pairwise(points)
    low, high = next(pair for pair in pairs if limit <= pair[1][0])
    share = (limit - low[0]) / (high[0] - low[0])
    watts, speed = (a + share * (b - a) for a, b in zip(low[1:], high[1:], strict=True))
    return watts, speed


def versions(torch: Any) -> dict[str, str]:
    """Versions a measurement depends on; Triton may be absent."""
    found = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
        "cudnn": str(torch.backends.cudnn.version()),
    }
    try:
        found["triton"] = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        found["triton"] = "absent"
    return found

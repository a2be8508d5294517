"""Watts of this machine's processor while it works, where the kernel counts joules.

Linux keeps counters of energy under ``/sys/class/powercap``, a folder a package, in
microjoules that begin anew at a range. A virtual machine has none, and where there are
some only root may read them: then it is *not run*, with the reason.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path("/sys/class/powercap")


def told(work: Callable[[], Any], root: Path = ROOT) -> dict[str, Any]:
    """``watts`` and ``seconds`` while some work is done, or ``not_run`` and why."""
    packages = [f.parent for f in sorted(root.glob("*/energy_uj")) if _whole(f.parent)]
    if not packages:
        return {"not_run": f"no counter of energy under {root}"}
    try:
        before, began = _read(packages, "energy_uj"), time.perf_counter()
        work()
        took, after = time.perf_counter() - began, _read(packages, "energy_uj")
        ranges = _read(packages, "max_energy_range_uj")
    except (OSError, ValueError) as error:
        return {"not_run": f"a counter cannot be read: {error}"}
    pairs = zip(after, before, ranges, strict=True)
    joules = sum((b - a) % (most + 1) for b, a, most in pairs) / 1e6
    return {"watts": joules / took, "seconds": took, "packages": len(packages)}


def _whole(folder: Path) -> bool:
    """Whether a folder counts a package, of which others are parts."""
    name = folder / "name"
    return name.exists() and name.read_text().startswith("package")


def _read(folders: list[Path], file: str) -> list[int]:
    return [int((folder / file).read_text()) for folder in folders]

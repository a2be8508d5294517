"""Every number of FP32, encoded by us and by the libraries: how many codes differ.

    python benchmarks/every_number.py   # -> results/every_number.json; ten minutes

All 4,294,967,296 bit patterns, infinities and NaNs among them, in every format that
has an oracle: ml_dtypes (too large becomes NaN, infinity or the largest number, as the
format has it) and torch, which saturates. A NaN may become any NaN: which one is each
library's own.
"""

from importlib.metadata import version
from typing import Any

import host_common
import ml_dtypes
import numpy as np
import torch

from stacklib.quantizers import Format
from stacklib.roofline.host import measure as host
from stacklib.sweep import progress

STEM, CHUNK, ALL = "every_number", 1 << 24, 1 << 32
BY_ML_DTYPES = {
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3": ml_dtypes.float8_e4m3,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e3m4": ml_dtypes.float8_e3m4,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
}
BY_TORCH = {
    "e4m3fn": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "e4m3fnuz": torch.float8_e4m3fnuz,
    "e5m2fnuz": torch.float8_e5m2fnuz,
    "e8m0": torch.float8_e8m0fnu,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}


def theirs(name: str, peer: str, x: Any) -> Any:
    """What a library makes of an array, as codes."""
    wide = Format(name).bits == 16
    if peer == "torch":
        made = torch.from_numpy(x).to(BY_TORCH[name])
        return made.view(torch.int16 if wide else torch.uint8).numpy()
    return x.astype(BY_ML_DTYPES[name]).view(np.int16 if wide else np.uint8)


def differing(name: str, peer: str) -> tuple[int, int]:
    """Codes that differ over all numbers, and how many inputs were NaN."""
    form, apart, unknown = Format(name), 0, 0
    for start in range(0, ALL, CHUNK):
        x = np.arange(start, start + CHUNK, dtype=np.uint64).astype(np.uint32)
        x = x.view(np.float32)
        with np.errstate(all="ignore"):
            ours = form.encode(x, saturate=peer == "torch")
            other = theirs(name, peer, x).view(ours.dtype)
        where = np.flatnonzero(ours != other)
        unknown += int(np.isnan(x).sum())
        both = np.isnan(form.decode(ours[where])) & np.isnan(form.decode(other[where]))
        apart += int((~both).sum())
    return apart, unknown


def measure() -> dict[str, Any]:
    """Every format beside every library that has it."""
    torch.set_num_threads(1)
    watch, rows = host.Watch(), []
    cases = [(name, "ml_dtypes") for name in BY_ML_DTYPES]
    cases += [(name, "torch") for name in BY_TORCH]
    for name, peer in progress(cases, len(cases), "formats"):
        peer_named = "NumPy" if (name, peer) == ("fp16", "ml_dtypes") else peer
        apart, unknown = differing(name, peer)
        row = {"id": f"{name} {peer_named}", "format": name, "peer": peer_named}
        row |= {"numbers": ALL, "of_which_nan": unknown, "differ": apart}
        rows.append(row)
        print(f"{name} and {peer_named}: {apart} of {ALL} differ", flush=True)
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        versions=host.versions() | {"ml_dtypes": version("ml_dtypes")},
        why_no_prediction="a comparison of codes with two libraries",
    )


if __name__ == "__main__":
    host_common.save(host_common.HERE, STEM, measure())

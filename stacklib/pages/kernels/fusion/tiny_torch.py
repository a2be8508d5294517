"""The tiny model's plans in torch: what they are told to hold, and what is kept."""

from __future__ import annotations

try:
    import torch
except ModuleNotFoundError as missing:
    how = "this cell runs torch: python -m pip install torch, or stacklib[torch]"
    raise ModuleNotFoundError(f"{missing}; {how}", name=missing.name) from None

from stacklib.kernels.launch.recompute import CheckpointPlan, checkpoint_plan
from stacklib.kernels.launch.recompute_torch import kept_bytes, tiny_layers
from stacklib.pages.models.tiny import config

BATCH, TOKENS = 1, 256


def planned(method: str) -> CheckpointPlan:
    """A plan for the model's own layers, cut from what ``tinylm.plan`` foretells."""
    layers = tiny_layers(config(), BATCH, TOKENS)
    return checkpoint_plan(layers, method=method)


def kept(method: str) -> float:
    """Bytes that autograd keeps of a step run by the plan, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return kept_bytes(config(), planned(method), batch=BATCH, tokens=TOKENS)
    finally:
        torch.set_num_threads(threads)

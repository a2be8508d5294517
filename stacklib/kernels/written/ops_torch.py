"""Every kernel as an operator of torch, ``stacklib::<name>``; see `operator_torch`."""

from .flash_ops_torch import flash_attention, flash_backward
from .operator_torch import OPERATORS, PLAIN
from .rows_ops_torch import (
    add,
    layernorm,
    layernorm_linear,
    matmul,
    rmsnorm,
    softmax,
)
from .scaled_ops_torch import (
    flash_sampling,
    fp8_matmul,
    mxfp8_matmul,
    swiglu_fp8,
    swiglu_mxfp8,
)

__all__ = [
    "OPERATORS",
    "PLAIN",
    "add",
    "flash_attention",
    "flash_backward",
    "flash_sampling",
    "fp8_matmul",
    "layernorm",
    "layernorm_linear",
    "matmul",
    "mxfp8_matmul",
    "rmsnorm",
    "softmax",
    "swiglu_fp8",
    "swiglu_mxfp8",
]

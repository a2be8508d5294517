"""The torch call of each case, with its operands made and rotated.

Operands are random: products of zeros run faster than products of data. Anything
a torch version or device does not have raises here, and the case is recorded as
failed with that reason.
"""

import math
from typing import Any

from gpu_cases import BITS
from gpu_decode import Decode
from gpu_timing import Op
from gpu_written import Written

Case = dict[str, Any]
TORCH_NAMES = {
    "fp32": "float32",
    "tf32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp8": "float8_e4m3fn",
    "int8": "int8",
}
MOST_COPIES = 256


class Bench:
    """Builds the ``Op`` of a case on one device.

    ``l2_bytes`` sets how many copies of the operands are rotated; the weights of
    the last decode case are kept, since the next batch size uses the same.
    """

    def __init__(self, torch: Any, device: str, l2_bytes: int) -> None:
        self.torch, self.device, self.l2_bytes = torch, device, l2_bytes
        self.kept: tuple[Any, Any] = (None, None)

    def build(self, case: Case) -> Op:
        """The operation of a case; everything but launch cases."""
        if case["section"] not in ("gemv", "decode", "power"):
            self.kept = (None, None)  # frees the weights before others need room
        build = {
            "copy": self._copy,
            "gemm": self._gemm,
            "gemv": self._gemv,
            "sdpa": self._sdpa,
            "decode": Decode(self).build,
            "power": Decode(self).build,
            "written": Written(self).build,
        }[case["section"]]
        return build(case)

    def launcher(self) -> Any:
        """A call that launches one kernel with nothing to do."""
        one = self.torch.zeros(1, device=self.device)
        return lambda: one.add_(1)

    def copies(self, size: int) -> int:
        """Sets of operands of ``size`` bytes that together hold three L2."""
        return min(max(1, math.ceil(3 * self.l2_bytes / size)), MOST_COPIES)

    def _cold(self, size: int, copies: int) -> bool:
        return copies * size >= 2 * self.l2_bytes

    def random(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Random numbers in a format; 8-bit ones by way of a wider one."""
        torch = self.torch
        kind = getattr(torch, TORCH_NAMES[dtype])
        if dtype == "int8":
            return torch.randint(-127, 128, shape, dtype=kind, device=self.device)
        if dtype != "fp8":
            return torch.randn(shape, dtype=kind, device=self.device)
        out = torch.empty(shape, dtype=kind, device=self.device)
        for part in out.reshape(-1, shape[-1]).split(2**16):
            part.copy_(
                torch.randn(part.shape, device=self.device, dtype=torch.bfloat16)
            )
        return out

    def _copy(self, case: Case) -> Op:
        torch, copies = self.torch, self.copies(case["bytes"])
        elements = case["bytes"] // 2 * 8 // BITS[case["dtype"]]
        source = self.random((copies, elements), case["dtype"])
        target = torch.empty_like(source)

        def copy(i: int) -> Any:
            return target[i].copy_(source[i])

        def scale(i: int) -> Any:
            return torch.mul(source[i], 2, out=target[i])

        run = copy if case["op"] == "copy" else scale
        return Op(run, copies, self._cold(case["bytes"], copies))

    def _gemm(self, case: Case) -> Op:
        x = self.random((case["m"], case["k"]), case["dtype"])
        w = self.random((1, case["n"], case["k"]), case["dtype"])
        if case.get("data") == "zeros":
            x.zero_()
            w.zero_()
        return self._product(case, x, w)

    def _gemv(self, case: Case) -> Op:
        key = (case["dtype"], case["n"], case["k"])
        if self.kept[0] != key:
            self.kept = (None, None)
            copies = self.copies(case["n"] * case["k"] * BITS[case["dtype"]] // 8)
            self.kept = (key, self.random((copies, *key[1:]), case["dtype"]))
        x = self.random((case["batch"], case["k"]), case["dtype"])
        return self._product(case, x, self.kept[1])

    def _product(self, case: Case, x: Any, w: Any) -> Op:
        """Y = X W^T, W[i] in turn; both operands run along k in memory."""
        torch = self.torch
        exact = "high" if case["dtype"] == "tf32" else "highest"
        torch.set_float32_matmul_precision(exact)
        copies, size = w.shape[0], w[0].numel() * w.element_size()
        if case["dtype"] == "fp8":
            run = self._fp8(x, w)
        elif case["dtype"] == "int8":

            def run(i: int) -> Any:
                return torch._int_mm(x, w[i].t())
        else:
            y = torch.empty((case["m"], case["n"]), dtype=x.dtype, device=self.device)

            def run(i: int) -> Any:
                return torch.mm(x, w[i].t(), out=y)

        return Op(run, copies, self._cold(size, copies))

    def _fp8(self, x: Any, w: Any) -> Any:
        torch = self.torch
        one = torch.ones((), device=self.device)
        options = {"scale_a": one, "scale_b": one, "out_dtype": torch.bfloat16}

        def run(i: int) -> Any:
            out = torch._scaled_mm(x, w[i].t(), use_fast_accum=True, **options)
            return out[0] if isinstance(out, tuple) else out

        return run

    def _sdpa(self, case: Case) -> Op:
        torch, names = self.torch, ("batch", "heads", "kv_heads", "queries", "keys")
        b, h, hkv, sq, sk = (case[name] for name in names)
        # prefill asks for arithmetic, decode for memory
        copies = self.copies(case["bytes"]) if sq == 1 else 1
        q = self.random((b, h, sq, case["dim"]), case["dtype"])
        k, v = (
            self.random((copies, b, hkv, sk, case["dim"]), case["dtype"])
            for _ in range(2)
        )
        options: dict[str, Any] = {"is_causal": case["causal"]}
        if h != hkv:
            options["enable_gqa"] = True
        attend = torch.nn.functional.scaled_dot_product_attention
        choose = self._backend(case["backend"])

        def run(i: int) -> Any:
            with choose():
                return attend(q, k[i], v[i], **options)

        return Op(run, copies, self._cold(case["bytes"], copies))

    def _backend(self, name: str) -> Any:
        attention = self.torch.nn.attention
        member = {
            "flash": "FLASH_ATTENTION",
            "cudnn": "CUDNN_ATTENTION",
            "efficient": "EFFICIENT_ATTENTION",
            "math": "MATH",
        }[name]
        kind = getattr(attention.SDPBackend, member)
        return lambda: attention.sdpa_kernel(kind)

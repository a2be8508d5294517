"""The kernels of chapter 4 as cases of the GPU benchmark: checked, then timed.

They are loaded from their folder, which needs torch and Triton and nothing of the
package around it. A case whose id ends in *check* is small and ragged: its result is
held to float64, within twice the error of torch's formula in the same precision.
"""

import importlib.util
import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gpu_cases import Case
from gpu_timing import Op

FOLDER = Path(__file__).resolve().parent.parent / "stacklib" / "kernels" / "written"
MODULES = (
    "rows_triton",
    "matmul_triton",
    "flash_forward_triton",
    "flash_backward_triton",
    "decode_triton",
    "sampling_triton",
    "scaled_triton",
)


@cache
def kernels() -> Any:
    """The folder's modules, as a package of its own."""
    try:
        import triton  # noqa: F401
    except ImportError as error:
        raise NotImplementedError(f"no Triton: {error}") from error
    path = FOLDER / "__init__.py"
    places = [str(FOLDER)]
    spec = importlib.util.spec_from_file_location(
        "written", path, submodule_search_locations=places
    )
    assert spec and spec.loader
    package = importlib.util.module_from_spec(spec)
    sys.modules["written"] = package
    spec.loader.exec_module(package)
    found = {name: importlib.import_module(f"written.{name}") for name in MODULES}
    return SimpleNamespace(**found)


class Written:
    """Builds the ``Op`` of a case of section *written*."""

    def __init__(self, bench: Any) -> None:
        self.torch, self.bench = bench.torch, bench

    def build(self, case: Case) -> Op:
        """The operation, after its check where it has one."""
        self.torch.manual_seed(0)
        call, formula, given = getattr(self, f"_{case['op']}")(case)
        if case["check"] and case["backend"] == "triton":
            case |= self._errors(call, formula, given)
        return Op(lambda i: _first(call(*given)))

    def _errors(self, call: Any, formula: Any, given: Any) -> dict[str, float]:
        """Error of ours, and of torch in the same precision, against float64."""
        wide = [self._double(x) for x in given]
        exact = formula(*wide)
        ours = _far(_first(call(*given)), exact)
        theirs = _far(formula(*given), exact)
        if not ours <= 2 * theirs + 1e-6:
            raise ArithmeticError(f"error {ours:.3g}, over twice torch's {theirs:.3g}")
        return {"error": ours, "torch_error": theirs}

    def _double(self, x: Any) -> Any:
        floats = self.torch.is_tensor(x) and x.is_floating_point()
        return x.double() if floats else x

    def _random(self, *shape: int, dtype: str = "bf16") -> Any:
        return self.bench.random(shape, dtype)

    # -- rows ------------------------------------------------------------------

    def _add(self, case: Case) -> Any:
        x, y = (self._random(case["rows"], case["columns"]) for _ in "xy")
        if case["backend"] == "torch":
            return self.torch.add, self.torch.add, (x, y)
        return kernels().rows_triton.add, self.torch.add, (x, y)

    def _softmax(self, case: Case) -> Any:
        x = self._random(case["rows"], case["columns"])

        def formula(x: Any) -> Any:
            return self.torch.softmax(x, -1)

        return self._choose(case, "rows_triton", "softmax", formula), formula, (x,)

    def _layernorm(self, case: Case) -> Any:
        x, w, b = (self._random(*s) for s in self._norm_shapes(case))
        functional = self.torch.nn.functional

        def formula(x: Any, w: Any, b: Any) -> Any:
            return functional.layer_norm(x, x.shape[-1:], w, b)

        call = self._choose(case, "rows_triton", "layernorm", formula)
        return call, formula, (x, w, b)

    def _rmsnorm(self, case: Case) -> Any:
        x, w, _ = (self._random(*s) for s in self._norm_shapes(case))
        functional = self.torch.nn.functional

        def formula(x: Any, w: Any) -> Any:
            return functional.rms_norm(x, x.shape[-1:], w, eps=1e-6)

        return self._choose(case, "rows_triton", "rmsnorm", formula), formula, (x, w)

    def _norm_shapes(self, case: Case) -> Any:
        columns = case["columns"]
        return (case["rows"], columns), (columns,), (columns,)

    def _layernorm_linear(self, case: Case) -> Any:
        x, w, b = (self._random(*s) for s in self._norm_shapes(case))
        linear = self._random(case["n"], case["columns"])
        functional = self.torch.nn.functional

        def formula(x: Any, w: Any, b: Any, linear: Any) -> Any:
            return functional.layer_norm(x, x.shape[-1:], w, b) @ linear.T

        call = self._choose(case, "rows_triton", "layernorm_linear", formula)
        return call, formula, (x, w, b, linear)

    def _choose(self, case: Case, module: str, name: str, formula: Any) -> Any:
        if case["backend"] == "torch":
            return formula
        return getattr(getattr(kernels(), module), name)

    # -- products ----------------------------------------------------------------

    def _matmul(self, case: Case) -> Any:
        a = self._random(case["m"], case["k"])
        b = self._random(case["n"], case["k"]).T
        return kernels().matmul_triton.matmul, self.torch.matmul, (a, b)

    def _fp8_matmul(self, case: Case) -> Any:
        return self._scaled(case, "fp8_matmul", 128, 128)

    def _mxfp8_matmul(self, case: Case) -> Any:
        return self._scaled(case, "mxfp8_matmul", 32, 1)

    def _scaled(self, case: Case, name: str, along: int, across: int) -> Any:
        torch, k = self.torch, case["k"]
        a, b = (self._random(case[side], k, dtype="fp8") for side in "mn")
        deep = math.ceil(k / along)
        shapes = (case["m"], deep), (math.ceil(case["n"] / across), deep)
        powers = [
            torch.randint(120, 132, s, dtype=torch.uint8, device=a.device)
            for s in shapes
        ]
        scales = (
            powers if across == 1 else [torch.exp2(p.float() - 127) for p in powers]
        )

        def wide(x: Any, power: Any, down: int) -> Any:
            x = x.double() if x.dtype == torch.float64 else x.float()
            scale = torch.exp2(power.to(x.dtype) - 127)
            scale = scale.repeat_interleave(down, 0)[: x.shape[0]]
            return x * scale.repeat_interleave(along, 1)[:, : x.shape[1]]

        def formula(a: Any, _a: Any, b: Any, _b: Any) -> Any:
            product = wide(a, powers[0], 1) @ wide(b, powers[1], across).T
            return product if a.dtype == torch.float64 else product.bfloat16()

        call = getattr(kernels().scaled_triton, name)
        return call, formula, (a, scales[0], b, scales[1])

    def _swiglu_fp8(self, case: Case) -> Any:
        return self._swiglu(case, "swiglu_fp8", 128)

    def _swiglu_mxfp8(self, case: Case) -> Any:
        return self._swiglu(case, "swiglu_mxfp8", 32)

    def _swiglu(self, case: Case, name: str, size: int) -> Any:
        """Codes times scales, against SwiGLU and torch's own rounding of it."""
        torch, functional = self.torch, self.torch.nn.functional
        x = self._random(case["rows"], 2 * case["columns"])
        make = getattr(kernels().scaled_triton, name)

        def decoded(x: Any) -> Any:
            codes, scale = make(x)
            scale = torch.exp2(scale.float() - 127) if size == 32 else scale
            scale = scale.repeat_interleave(size, 1)[:, : codes.shape[1]]
            return codes.float() * scale

        def formula(x: Any) -> Any:
            gate, up = x.chunk(2, 1)
            y = functional.silu(gate) * up
            if x.dtype == torch.float64:
                return y
            groups = functional.pad(y.float(), (0, -y.shape[1] % size))
            groups = groups.reshape(len(y), -1, size)
            most = groups.abs().amax(-1, keepdim=True)
            scale = most / 448
            if size == 32:  # the rule FLOOR: the exponent of the largest, less 448's
                scale = torch.exp2(torch.floor(torch.log2(most)) - 8)
            codes = (groups / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
            return (codes.float() * scale).reshape(len(y), -1)[:, : y.shape[1]]

        return (decoded if case["check"] else make), formula, (x,)

    # -- attention and sampling -----------------------------------------------------

    def _operands(self, case: Case) -> tuple[Any, ...]:
        b, d = case["batch"], case["dim"]
        q = self._random(b, case["heads"], case["queries"], d)
        k, v = (self._random(b, case["kv_heads"], case["keys"], d) for _ in "kv")
        return q, k, v

    def _sdpa(self, case: Case) -> Callable[..., Any]:
        options: dict[str, Any] = {"is_causal": case["causal"]}
        if case["heads"] != case["kv_heads"]:
            options["enable_gqa"] = True
        attend = self.torch.nn.functional.scaled_dot_product_attention
        return lambda q, k, v: attend(q, k, v, **options)

    def _flash(self, case: Case) -> Any:
        forward = kernels().flash_forward_triton.forward_with_lse

        def call(q: Any, k: Any, v: Any) -> Any:
            return forward(q, k, v, case["causal"])

        return call, self._sdpa(case), self._operands(case)

    def _backward(self, case: Case) -> Any:
        q, k, v = self._operands(case)
        g = self._random(*q.shape)
        attend = self._sdpa(case)

        def torch_gradient(q: Any, k: Any, v: Any, g: Any) -> Any:
            with self.torch.enable_grad():
                leaves = [x.detach().requires_grad_() for x in (q, k, v)]
                out = attend(*leaves)
            return self.torch.autograd.grad(out, leaves, g)[0]

        if case["backend"] != "triton":
            return self._torch_backward(case, attend), torch_gradient, (q, k, v, g)
        modules = kernels()
        asked = {"causal": case["causal"]}
        out, lse = modules.flash_forward_triton.forward_with_lse(q, k, v, **asked)
        backward = modules.flash_backward_triton.backward

        def call(q: Any, k: Any, v: Any, g: Any) -> Any:
            return backward(q, k, v, out, lse, g, **asked)

        return call, torch_gradient, (q, k, v, g)

    def _torch_backward(self, case: Case, attend: Any) -> Callable[..., Any]:
        """Gradients alone: the forward pass is made once, and kept."""
        kept: list[Any] = []

        def call(q: Any, k: Any, v: Any, g: Any) -> Any:
            if not kept:
                with self.torch.enable_grad(), self.bench._backend(case["backend"])():
                    kept.append([x.detach().requires_grad_() for x in (q, k, v)])
                    kept.append(attend(*kept[0]))
            return self.torch.autograd.grad(kept[1], kept[0], g, retain_graph=True)

        return call

    def _decode(self, case: Case) -> Any:
        torch, page = self.torch, 16
        b, s, d = case["batch"], case["keys"], case["dim"]
        most = math.ceil(s / page)
        q = self._random(b, case["heads"], d)
        k, v = (self._random(b * most, page, case["kv_heads"], d) for _ in "kv")
        order = torch.randperm(b * most, device=q.device, dtype=torch.int32)
        table = order.reshape(b, most)
        lengths = torch.full((b,), s, dtype=torch.int32, device=q.device)

        def formula(q: Any, k: Any, v: Any, table: Any, lengths: Any) -> Any:
            shape = (b, most * page, case["kv_heads"], d)
            own = [
                x[table.long()].reshape(shape)[:, :s].transpose(1, 2) for x in (k, v)
            ]
            return self._sdpa(case)(q[:, :, None], *own)[:, :, 0]

        call = kernels().decode_triton.paged_decode
        return call, formula, (q, k, v, table, lengths)

    def _sampling(self, case: Case) -> Any:
        hidden = self._random(case["rows"], case["k"])
        head = self._random(case["n"], case["k"]) / math.sqrt(case["k"])
        torch, cold = self.torch, case["check"]

        def formula(hidden: Any, head: Any) -> Any:
            return (hidden @ head.T).argmax(-1)

        def drawn(hidden: Any, head: Any) -> Any:
            shares = torch.softmax((hidden @ head.T).float(), -1)
            return torch.multinomial(shares, 1)

        if case["backend"] == "torch":
            return drawn, formula, (hidden, head)
        sample = kernels().sampling_triton.flash_sampling

        def call(hidden: Any, head: Any) -> Any:
            found = sample(hidden, head, 0.0 if cold else 1.0, 1)
            return (hidden @ head.T).gather(1, found[:, None].long()) if cold else found

        def best(hidden: Any, head: Any) -> Any:
            return (hidden @ head.T).amax(-1, keepdim=True)

        return call, best if cold else formula, (hidden, head)


def _first(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


def _far(found: Any, exact: Any) -> float:
    return float((found.double() - exact.double()).abs().max())

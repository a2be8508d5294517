"""An operator of your own.

level: build
project: P4.7

A kernel that torch does not know is a wall to `torch.compile`: it cannot see the shape
of what comes out, so the graph breaks there and nothing is fused across. Make RMS norm
an operator that torch knows. For a row x of `n` numbers it is

    y = x * r * weight,    r = 1 / sqrt(mean of x squared + eps)

- `forward(x, weight, eps)`: the values, in plain torch. With a GPU this is where a
  kernel is called; without one it is the formula.
- `fake(x, weight, eps)`: an empty tensor of the right shape and type, and no values.
- `keep(ctx, inputs, output)`: what the way back needs, by `ctx.save_for_backward`.
- `backward(ctx, grad)`: the gradients of x and weight, and None for eps. With
  m = x * r and h = grad * weight they are r * (h - m * mean of (h * m)) over a row, and
  the sum of grad * m over all rows.
- `register()`: the operator `mine::rms_norm`, made with `torch.library.custom_op`, with
  its fake and its gradient registered. Give the schema by hand:
  `"(Tensor x, Tensor weight, float eps) -> Tensor"`.

`torch.library.opcheck` tries its schema, its registration and its fake here; called
without `test_utils` it traces the way back as well, which takes longer: try it. And
`torch.compile(fullgraph=True)` has to take it without a break. With a GPU:
`stacklib/kernels/written/rows_ops_torch.py` does the same around a Triton kernel.

hint: `custom_op(name, forward, mutates_args=(), schema=...)` gives an object with
`register_fake` and `register_autograd(backward, setup_context=keep)`. An operator that
changes nothing must return a tensor of its own, never its input.
"""

from functools import cache

try:
    import torch
    import torch._dynamo  # what torch.compile begins with: seconds, here only once
except ImportError:
    torch = None

from stacklib.grading import expect

# ---- your answer ----


def forward(x, weight, eps):
    """RMS norm of each row."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def fake(x, weight, eps):
    """An empty result."""
    return torch.empty_like(x)


def keep(ctx, inputs, output):
    """Keep for the way back."""
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def backward(ctx, grad):
    """Gradients of x, weight and eps."""
    x, weight = ctx.saved_tensors
    r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + ctx.eps)
    m, h = x * r, grad * weight
    of_weight = (grad * m).reshape(-1, weight.numel()).sum(0)
    return r * (h - m * (h * m).mean(-1, keepdim=True)), of_weight, None


def register():
    """The operator mine::rms_norm."""
    schema = "(Tensor x, Tensor weight, float eps) -> Tensor"
    made = torch.library.custom_op(
        "mine::rms_norm", forward, mutates_args=(), schema=schema
    )
    made.register_fake(fake)
    made.register_autograd(backward, setup_context=keep)
    return made


# ---- tests ----

EPS = 1e-5


@cache
def operator():
    if torch is None:
        raise expect.Mistake("this exercise needs torch: pip install torch")
    torch.set_num_threads(1)
    made = register()
    if not hasattr(made, "register_fake"):
        raise expect.Mistake("register() gives what custom_op made")
    return made


def given(rows=3, columns=8):
    torch.manual_seed(4)
    x = torch.randn(rows, columns, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(columns, dtype=torch.float64, requires_grad=True)
    return x, weight


def exact(x, weight):
    scale = (x.pow(2).sum(-1, keepdim=True) / x.shape[-1] + EPS).sqrt()
    return x / scale * weight


def test_values():
    rms_norm = operator()
    x, weight = given()
    y = rms_norm(x, weight, EPS)
    if y.shape != x.shape or not torch.allclose(y, exact(x, weight)):
        raise expect.Mistake("the values are not those of RMS norm")


def test_gradients():
    rms_norm = operator()
    (x, weight), (p, q) = given(), given()
    exact(p, q).square().sum().backward()
    try:
        rms_norm(x, weight, EPS).square().sum().backward()
    except RuntimeError as error:
        raise expect.Mistake(f"no way back: {error}") from None
    for name, mine, right in (("x", x, p), ("weight", weight, q)):
        if mine.grad is None or mine.grad.shape != right.grad.shape:
            raise expect.Mistake(f"the gradient of {name} has not its shape")
        if not torch.allclose(mine.grad, right.grad):
            raise expect.Mistake(f"the gradient of {name} is not right")


def test_opcheck():
    """What torch itself asks of an operator: schema, registration, fake."""
    rms_norm = operator()
    asked = ("test_schema", "test_autograd_registration", "test_faketensor")
    try:
        torch.library.opcheck(rms_norm, (*given(), EPS), test_utils=asked)
    except Exception as error:
        said = " ".join(str(error).split())
        why = ""
        if "fake" in said.lower() or "meta" in said.lower():
            why = " Look at the fake: its shape, type and strides are promises."
        raise expect.Mistake(f"opcheck: {said[:300]}.{why}") from None


def test_compiles_whole():
    """One graph, with the operator in it."""
    rms_norm, graphs = operator(), []

    def layer(x, weight):
        return rms_norm(x * 2, weight, EPS) + 1

    def look(module, inputs):
        graphs.append(module)
        return module.forward

    compiled = torch.compile(layer, backend=look, fullgraph=True)
    x, weight = (t.detach() for t in given())
    try:
        y = compiled(x, weight)
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise expect.Mistake(f"the graph breaks: {said}") from None
    if not torch.allclose(y, layer(x, weight)):
        raise expect.Mistake("compiled, it gives other values")
    nodes = [n for n in graphs[0].graph.nodes if "rms_norm" in str(n.target)]
    expect.reading("graphs that torch.compile made", len(graphs))
    if len(graphs) != 1 or len(nodes) != 1:
        raise expect.Mistake(
            f"{len(graphs)} graphs, {len(nodes)} calls of the operator"
        )

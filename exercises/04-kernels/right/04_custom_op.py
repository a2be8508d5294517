# ---- library: the older way, by a Library and its dispatch keys
def forward(x, weight, eps):
    return torch.nn.functional.rms_norm(x, weight.shape, weight, eps)


def fake(x, weight, eps):
    return x.new_empty(x.shape)


def keep(ctx, inputs, output):
    x, weight, eps = inputs
    ctx.save_for_backward(x, weight, torch.rsqrt(x.square().mean(-1) + eps))


def backward(ctx, grad):
    x, weight, r = ctx.saved_tensors
    m = x * r[..., None]
    h = grad * weight
    dot = torch.einsum("...n,...n->...", h, m) / x.shape[-1]
    return (
        (h - m * dot[..., None]) * r[..., None],
        torch.einsum("rn,rn->n", grad, m),
        None,
    )


def register():
    schema = "(Tensor x, Tensor weight, float eps) -> Tensor"
    named = torch.library.custom_op("mine::rms_norm", mutates_args=(), schema=schema)
    made = named(forward)
    torch.library.register_fake("mine::rms_norm", fake)
    torch.library.register_autograd("mine::rms_norm", backward, setup_context=keep)
    return made


# ---- traced: gradients by torch's own tape, the fake by its strides
def forward(x, weight, eps):
    return weight * (x / torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + eps))


def fake(x, weight, eps):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])
    ctx.eps = inputs[2]


def backward(ctx, grad):
    with torch.enable_grad():
        own = [t.detach().requires_grad_() for t in ctx.saved_tensors]
        y = forward(*own, ctx.eps)
    return (*torch.autograd.grad(y, own, grad), None)

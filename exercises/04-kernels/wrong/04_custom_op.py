# ---- fake_row: Look at the fake
def fake(x, weight, eps):
    return x.new_empty(x.shape[:-1])


# ---- no_mean: the gradient of x is not right
def backward(ctx, grad):
    x, weight = ctx.saved_tensors
    r = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + ctx.eps)
    of_weight = (grad * x * r).reshape(-1, weight.numel()).sum(0)
    return grad * weight * r, of_weight, None

# ---- divided: You divide. The kernels multiply
def restored(x):
    form = Format("e2m1")
    whole, each = tensor_scale(x), block_scales(x)[:, None]
    used = np.where(each > 0, each, np.float32(1))
    elements = form.decode(form.encode(x.reshape(-1, 16) / (used * whole)))
    return (elements * each * whole).ravel()


# ---- fp32_scales: Those are not rounded to E4M3
def block_scales(x):
    largest = np.abs(x.reshape(-1, 16)).max(axis=1)
    return largest / np.float32(6) / tensor_scale(x)


# ---- fours_eighty: 480 is NaN
def tensor_scale(x):
    return np.abs(x).max() / np.float32(480 * 6)


# ---- no_tensor_scale: The tensor's scale is left out
def block_scales(x):
    form = Format("e4m3fn")
    largest = np.abs(x.reshape(-1, 16)).max(axis=1)
    return form.decode(form.encode(largest / np.float32(6), saturate=True))


# ---- normal_float: those are parts of NF4
import statistics


def restored(x):
    end, quantile = 0.9677083, statistics.NormalDist().inv_cdf
    above = [quantile(p) for p in np.linspace(end, 0.5, 9)[:-1]]
    below = [-quantile(p) for p in np.linspace(end, 0.5, 8)[:-1]]
    table = np.array([*below, 0.0, *above[::-1]]) / max(above)
    rows = x.reshape(-1, 16)
    most = np.abs(rows).max(axis=1, keepdims=True)
    parts = rows / np.where(most > 0, most, 1)
    at = np.abs(parts[..., None] - table).argmin(axis=-1)
    return (table[at] * most).ravel()

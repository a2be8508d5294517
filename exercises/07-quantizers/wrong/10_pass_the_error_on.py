# ---- dead: the column of an input that is never there becomes zero
def gptq(weights, hessian, scales):
    weights, hessian = weights.copy(), hessian.copy()
    hessian += 0.01 * np.diag(hessian).mean() * np.eye(len(hessian))
    upper = np.linalg.cholesky(np.linalg.inv(hessian)).T
    for j in range(weights.shape[1]):
        codes = np.clip(np.rint(weights[:, j] / scales), -7, 7)
        error = (weights[:, j] - codes * scales) / upper[j, j]
        weights[:, j] = codes * scales
        weights[:, j + 1 :] -= np.outer(error, upper[j, j + 1 :])
    return weights


# ---- dead_nan: NaN or infinity is among the weights
def gptq(weights, hessian, scales):
    weights, hessian = weights.copy(), hessian.copy()
    alive = np.diag(hessian) > 0
    hessian[alive, alive] += 0.01 * np.diag(hessian)[alive].mean()
    inverse, living = np.zeros_like(hessian), np.ix_(alive, alive)
    inverse[living] = np.linalg.inv(hessian[living])
    with np.errstate(all="ignore"):
        for j in range(weights.shape[1]):
            codes = np.clip(np.rint(weights[:, j] / scales), -7, 7)
            error = (weights[:, j] - codes * scales) / inverse[j, j]
            weights[:, j + 1 :] -= np.outer(error, inverse[j, j + 1 :])
            weights[:, j] = codes * scales
            inverse -= np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
    return weights


# ---- no_damp: step 2 is for that
def gptq(weights, hessian, scales):
    weights, hessian = weights.copy(), hessian.copy()
    dead = np.diag(hessian) == 0
    hessian[dead, dead] = 1
    weights[:, dead] = 0
    upper = np.linalg.cholesky(np.linalg.inv(hessian)).T
    for j in range(weights.shape[1]):
        codes = np.clip(np.rint(weights[:, j] / scales), -7, 7)
        error = (weights[:, j] - codes * scales) / upper[j, j]
        weights[:, j] = codes * scales
        weights[:, j + 1 :] -= np.outer(error, upper[j, j + 1 :])
    return weights


# ---- of_the_hessian: its inverse says who can make up
def gptq(weights, hessian, scales):
    weights, hessian = weights.copy(), hessian.copy()
    diagonal = np.diag_indices_from(hessian)
    dead = hessian[diagonal] == 0
    hessian[dead, dead] = 1
    weights[:, dead] = 0
    hessian[diagonal] += 0.01 * hessian[diagonal].mean()
    upper = np.linalg.cholesky(hessian).T
    for j in range(weights.shape[1]):
        codes = np.clip(np.rint(weights[:, j] / scales), -7, 7)
        error = (weights[:, j] - codes * scales) / upper[j, j]
        weights[:, j] = codes * scales
        weights[:, j + 1 :] -= np.outer(error, upper[j, j + 1 :])
    return weights


# ---- squares: as if inputs never went together
def layer_error(difference, hessian):
    return np.sum(difference**2)


# ---- no_update: that is plain rounding: the columns that follow
def gptq(weights, hessian, scales):
    codes = np.clip(np.rint(weights / scales[:, None]), -7, 7)
    return np.where(np.diag(hessian) == 0, 0, codes * scales[:, None])


# ---- whole_inverse: done ones among them
def gptq(weights, hessian, scales):
    weights, hessian = weights.copy(), hessian.copy()
    diagonal = np.diag_indices_from(hessian)
    dead = hessian[diagonal] == 0
    hessian[dead, dead] = 1
    weights[:, dead] = 0
    hessian[diagonal] += 0.01 * hessian[diagonal].mean()
    inverse = np.linalg.inv(hessian)
    for j in range(weights.shape[1]):
        codes = np.clip(np.rint(weights[:, j] / scales), -7, 7)
        error = (weights[:, j] - codes * scales) / inverse[j, j]
        weights[:, j] = codes * scales
        weights[:, j + 1 :] -= np.outer(error, inverse[j, j + 1 :])
    return weights

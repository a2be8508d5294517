# ---- solved: what makes up best among the rest, by least squares at each column
def layer_error(difference, hessian):
    return np.trace(difference @ hessian @ difference.T)


def gptq(weights, hessian, scales):
    work, size = np.array(weights), len(hessian)
    never = np.diag(hessian) == 0
    work[:, never] = 0
    damped = hessian + np.diag(never.astype(float))
    damped = damped + np.eye(size) * np.trace(damped) / size / 100
    for j in range(size):
        nearest = np.round(work[:, j] / scales).clip(-7, 7) * scales
        lost = work[:, j] - nearest
        work[:, j] = nearest
        if j + 1 < size:
            gain = np.linalg.solve(damped[j + 1 :, j + 1 :], damped[j + 1 :, j])
            work[:, j + 1 :] += lost[:, None] * gain
    return work


# ---- eliminated: the inverse loses a row and a column at each step; rows in a loop
def layer_error(difference, hessian):
    return float(sum(row @ hessian @ row for row in difference))


def gptq(weights, hessian, scales):
    hessian = hessian.copy()
    alive = np.diag(hessian) != 0
    hessian += np.diag(np.where(alive, 0.0, 1.0))
    hessian += 0.01 * np.mean(np.diag(hessian)) * np.identity(len(hessian))
    found = []
    for row, scale in zip(weights * alive, scales, strict=True):
        row, inverse = row.copy(), np.linalg.inv(hessian)
        for j in range(len(row)):
            code = min(7, max(-7, round(row[j] / scale)))
            step = (row[j] - code * scale) / inverse[j, j]
            row[j:] -= step * inverse[j, j:]
            row[j] = code * scale
            inverse -= np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
        found.append(row)
    return found

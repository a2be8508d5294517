# ---- half_sums: Those sums are kept in FP16; with FP32 sums it is slower.
def dense_rates():
    return 330 / 2, 838 / 2, 624 / 2


def ridges():
    return 330 / 2 / 1.008, 838 / 4 / 1.792, 624 / 2 / 2.039


# ---- sparse: That rate is sparse: two of four weights are skipped.
def dense_rates():
    return 330, 838, 624


def ridges():
    return 330 / 2 / 1.008, 838 / 4 / 1.792, 624 / 2 / 2.039


# ---- sparse_ridge: The ridge of a dense product needs the dense rate.
def ridges():
    return 330 / 1.008, 419 / 1.792, 624 / 2.039

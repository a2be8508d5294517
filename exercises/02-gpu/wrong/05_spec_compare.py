# ---- half_sums: Those sums are kept in FP16; with FP32 sums it is slower.
def dense_rates():
    return 165, 419, 312


def ridges():
    return 165 / 1.008, 209.5 / 1.792, 312 / 2.039


# ---- sparse: That rate is sparse: two of four weights are skipped.
def dense_rates():
    return 330, 838, 624


def ridges():
    return 165 / 1.008, 209.5 / 1.792, 312 / 2.039


# ---- sparse_ridge: The ridge of a dense product needs the dense rate.
def ridges():
    return 330 / 1.008, 419 / 1.792, 624 / 2.039

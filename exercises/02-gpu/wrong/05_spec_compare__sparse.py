# diagnosis: That rate is sparse: two of four weights are skipped.
def dense_rates():
    return 330, 838, 624


def ridges():
    return 165 / 1.008, 209.5 / 1.792, 312 / 2.039

# diagnosis: The ridge of a dense product needs the dense rate.
def dense_rates():
    return 165, 209.5, 312


def ridges():
    return 330 / 1.008, 419 / 1.792, 624 / 2.039

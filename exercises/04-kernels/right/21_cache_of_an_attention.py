# ---- quantities: with units, from the sizes of one head
from stacklib.quantity import Quantity

NUMBER = Quantity(2, "B")
HEAD = 2 * 128 * NUMBER


def multi_head():
    return 60 * 128 * HEAD


def grouped():
    return multi_head() / 8


def multi_query():
    return (60 * HEAD).to("kB")


def latent():
    return 60 * 576 * NUMBER


def latent_on_each():
    return latent().to("kB")


def grouped_on_each():
    return 60 * 2 * HEAD


def tokens():
    return int((Quantity(40, "GB") / latent()).si)


# ---- arrays: all kinds at once
import numpy as np

ROWS = 2 * 60 * np.array([128 * 256, 16 * 256, 256, 512 + 64])


def multi_head():
    return ROWS[0]


def grouped():
    return ROWS[1]


def multi_query():
    return ROWS[2]


def latent():
    return ROWS[3]


def latent_on_each():
    return float(ROWS[3])


def grouped_on_each():
    return ROWS[1] / 8


def tokens():
    return np.floor(40e9 / ROWS[3])

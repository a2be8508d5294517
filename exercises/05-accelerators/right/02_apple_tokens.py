# ---- bits: by bits of a weight
def file_gb(billions, bytes_of_block, weights_of_block):
    bits = 8 * bytes_of_block / weights_of_block
    return billions * bits / 8


def share(measured, gb, gb_per_s):
    return (measured * gb) / gb_per_s


# ---- seconds: by the time of a token
def roof(gb, gb_per_s):
    seconds = gb / gb_per_s
    return 1 / seconds


def largest(gb_per_s, least):
    seconds = 1 / least
    return seconds * gb_per_s

# ---- turned: by NumPy, the axes of tiles turned
import numpy as np


def offset(row, block, blocks):
    across = (blocks + 3) // 4
    (down, inside), (right, part) = divmod(row, 128), divmod(block, 4)
    quarter, lane = divmod(inside, 32)
    return np.ravel_multi_index(
        (down, right, lane, quarter, part), (down + 1, across, 32, 4, 4)
    )


def pack(scales):
    given = np.array(scales)
    down, across = -(-given.shape[0] // 128), -(-given.shape[1] // 4)
    full = np.zeros((down * 128, across * 4), int)
    full[: given.shape[0], : given.shape[1]] = given
    parts = full.reshape(down, 4, 32, across, 4)
    return parts.transpose(0, 3, 2, 1, 4).ravel()


def unpack(packed, rows, blocks):
    down, across = -(-rows // 128), -(-blocks // 4)
    parts = np.array(packed).reshape(down, across, 32, 4, 4)
    full = parts.transpose(0, 3, 2, 1, 4).reshape(down * 128, across * 4)
    return full[:rows, :blocks]


# ---- written_in_order: each byte says whose it is
def offset(row, block, blocks):
    start = (row // 128) * ((blocks + 3) // 4) * 512 + (block // 4) * 512
    return start + 16 * (row & 31) + 4 * ((row >> 5) & 3) + (block & 3)


def pack(scales):
    rows, blocks, out = len(scales), len(scales[0]), []
    for down in range(0, rows, 128):
        for right in range(0, blocks, 4):
            for lane in range(32):
                for row in range(down + lane, down + 128, 32):
                    for block in range(right, right + 4):
                        there = row < rows and block < blocks
                        out.append(scales[row][block] if there else 0)
    return out

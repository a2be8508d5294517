"""Where the hardware wants its scales.

level: build

Suppose that a matrix has a scale of one byte for each block of 32 numbers along a row,
as MXFP8 has it, and that the tensor core reads tiles of 128 rows with 4 scales each,
`512` bytes. In a tile the scale of row `r` and block `b`, both counted from 0 there, is
byte

    (r % 32) * 16 + (r // 32) * 4 + b

Tiles follow one another along the blocks first: all tiles of the first `128` rows, then
those of the next. Where rows or blocks do not fill a tile, the rest of it is zero.

- `offset(row, block, blocks)`: byte of a scale in the packed array, where the matrix
  has `blocks` scales a row. `row` and `block` count from 0 over the whole matrix.
- `pack(scales)`: the packed bytes as a list of whole numbers. `scales` is a list of
  rows, each a list of as many whole numbers from 0 to 255.
- `unpack(packed, rows, blocks)`: the way back, a list of rows.

hint: `divmod` by 128 and by 4 separates which tile from where inside it. How many tiles
lie before it, ragged ones counted whole? Then one double loop serves in either
direction.
"""

import random

from stacklib.grading import expect
from stacklib.kernels.scaled.scale_layout import pack_scales, packed_size, scale_offset

# ---- your answer ----


def offset(row, block, blocks):
    """Byte of a scale among the packed ones."""
    tile = row // 128 * -(-blocks // 4) + block // 4
    return tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + block % 4


def pack(scales):
    """Packed bytes of the scales, whole tiles."""
    rows, blocks = len(scales), len(scales[0])
    packed = [0] * (-(-rows // 128) * -(-blocks // 4) * 512)
    for row in range(rows):
        for block in range(blocks):
            packed[offset(row, block, blocks)] = scales[row][block]
    return packed


def unpack(packed, rows, blocks):
    """Scales of a matrix from their packed bytes."""
    return [
        [packed[offset(row, block, blocks)] for block in range(blocks)]
        for row in range(rows)
    ]


# ---- tests ----

SHAPES = ((130, 5), (7, 1), (300, 11), (33, 3), (128, 4), (128, 8), (256, 4))
RNG = random.Random(14)


def drawn(rows, blocks):
    return [[RNG.randrange(1, 255) for _ in range(blocks)] for _ in range(rows)]


SLIPS = {
    "That is row by row, as they were quantized.": lambda r, b, n: r * n + b,
    "Four rows of a lane lie 32 apart; you take neighbours.": lambda r, b, n: (
        (r // 128 * -(-n // 4) + b // 4) * 512 + r % 128 // 4 * 16 + r % 4 * 4 + b % 4
    ),
    "Tiles follow one another along the blocks first, then along the rows.": (
        lambda r, b, n: scale_offset(r % 128, b % 4, 4) + (r // 128 + b // 4) * 512
    ),
    "A row of tiles has ceil(blocks / 4) tiles: the last may be part empty.": (
        lambda r, b, n: (
            scale_offset(r % 128, b % 4, 4) + (r // 128 * (n // 4) + b // 4) * 512
        )
    ),
    "In a tile, rows 32 to 63 lie 4 bytes behind rows 0 to 31, not 512.": (
        lambda r, b, n: (r // 32 * -(-n // 4) + b // 4) * 512 + r % 32 * 16 + b % 4
    ),
}


def places():
    for rows, blocks in SHAPES:
        for row in {0, 5, 31, 32, 37, 101, 127, 128, 200, rows - 1}:
            if row < rows:
                yield from ((row, block, blocks) for block in range(blocks))


def test_offset():
    asked = list(places())
    mine = {
        place: expect.whole(
            expect.call(
                offset, dict(zip(("row", "block", "blocks"), place, strict=True))
            )
        )
        for place in asked
    }
    wrong = [place for place in asked if mine[place] != scale_offset(*place)]
    if not wrong:
        expect.reading("byte of row 37, block 0", mine[37, 0, 4])
        return
    for text, slip in SLIPS.items():
        if all(mine[place] == slip(*place) for place in wrong):
            raise expect.Mistake(text)
    row, block, blocks = wrong[0]
    raise expect.Mistake(
        f"row {row}, block {block} of {blocks}: byte {mine[wrong[0]]} instead of "
        f"{scale_offset(row, block, blocks)}"
    )


def right_pack(scales):
    import numpy as np

    return pack_scales(np.array(scales, np.uint8)).tolist()


def test_pack():
    for rows, blocks in SHAPES:
        scales = drawn(rows, blocks)
        mine = [expect.whole(x) for x in expect.call(pack, {"scales": scales})]
        right, size = right_pack(scales), packed_size(rows, blocks)
        if mine == right:
            continue
        told = f"{rows} rows of {blocks} scales: "
        if len(mine) == rows * blocks != size:
            raise expect.Mistake(
                f"{told}{len(mine)} bytes; whole tiles are packed, {size} bytes"
            )
        if len(mine) != size:
            raise expect.Mistake(f"{told}{len(mine)} bytes instead of {size}")
        at = next(i for i, (x, y) in enumerate(zip(mine, right, strict=True)) if x != y)
        raise expect.Mistake(f"{told}byte {at} is {mine[at]} instead of {right[at]}")


def test_unpack():
    for rows, blocks in SHAPES:
        scales = drawn(rows, blocks)
        case = {"packed": right_pack(scales), "rows": rows, "blocks": blocks}
        found = expect.call(unpack, case)
        mine = [[expect.whole(x) for x in row] for row in found]
        if mine == scales:
            continue
        told = f"{rows} rows of {blocks} scales: "
        if [len(row) for row in mine] != [blocks] * rows:
            raise expect.Mistake(f"{told}without the padding, as many come back")
        lying = [case["packed"][r * blocks : (r + 1) * blocks] for r in range(rows)]
        if mine == lying and offset(33, 0, blocks) == scale_offset(33, 0, blocks):
            raise expect.Mistake(f"{told}cut into rows as if it lay row by row")
        raise expect.Mistake(f"{told}not what was packed")

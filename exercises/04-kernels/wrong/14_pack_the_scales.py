# ---- by_rows: That is row by row
def offset(row, block, blocks):
    return row * blocks + block


# ---- neighbours: you take neighbours
def offset(row, block, blocks):
    tile = row // 128 * -(-blocks // 4) + block // 4
    return tile * 512 + row % 128 // 4 * 16 + row % 4 * 4 + block % 4


# ---- whole_tiles: the last may be part empty
def offset(row, block, blocks):
    tile = row // 128 * (blocks // 4) + block // 4
    return tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + block % 4


# ---- quarters: rows 32 to 63 lie 4 bytes behind rows 0 to 31
def offset(row, block, blocks):
    tile = row // 32 * -(-blocks // 4) + block // 4
    return tile * 512 + row % 32 * 16 + block % 4


# ---- no_padding: whole tiles are packed
def pack(scales):
    return [scale for row in scales for scale in row]


# ---- as_it_lies: as if it lay row by row
def unpack(packed, rows, blocks):
    return [packed[row * blocks : (row + 1) * blocks] for row in range(rows)]

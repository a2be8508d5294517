# ---- one_way: A cable carries a chunk in each direction
def sends(board, chunks):
    chips = {chip for pair in board for chip in pair}
    return -(-2 * (len(chips) - 1) * chunks // len(board))


# ---- together: You counted the sends that bring a sum together
def sends(board, chunks):
    chips = {chip for pair in board for chip in pair}
    return -(-(len(chips) - 1) * chunks // (2 * len(board)))


# ---- everybody: Chips can add
def sends(board, chunks):
    n = len({chip for pair in board for chip in pair})
    return -(-n * (n - 1) * chunks // (2 * len(board)))


# ---- last_step: You let a chunk leave in the last step
def port(board, chunks):
    cables = [chip for pair in board for chip in pair]
    return max(-(-chunks // cables.count(chip)) for chip in cables)


# ---- both_count: The step in which a chunk leaves counts for both
def port(board, chunks):
    cables = [chip for pair in board for chip in pair]
    return max(
        -(-chunks // cables.count(chip)) + max(steps_from(board, chip).values())
        for chip in set(cables)
    )


# ---- chips: You counted the chips on the way
def far(board):
    chips = {chip for pair in board for chip in pair}
    return 1 + max(max(steps_from(board, chip).values()) for chip in chips)

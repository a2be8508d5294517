# ---- mean: other work only ever adds, and a mean keeps what it added
def time_call(chip):
    elapsed(chip, 3)
    calls = 1
    while elapsed(chip, calls) < 200 * chip.tick:
        calls *= 2
    return sum(elapsed(chip, calls) for _ in range(21)) / 21 / calls


# ---- no_sync: that is the launch; you read the clock while the device worked
def elapsed(chip, calls):
    began = chip.clock()
    for _ in range(calls):
        chip.launch()
    return chip.clock() - began


# ---- no_warm_up: the first call is still in it
def time_call(chip):
    calls = 1 + int(100 * chip.tick / 2e-6)
    return elapsed(chip, calls) / calls


# ---- one_call: not one tick passed while you looked
def time_call(chip):
    elapsed(chip, 3)
    return min(elapsed(chip, 1) for _ in range(21))

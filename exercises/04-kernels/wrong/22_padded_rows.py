# ---- left_over: Padding is what they lack
def padding(counts, tile):
    return sum(count % tile for count in counts)


# ---- one_more: A count of whole tiles pads nothing
def padding(counts, tile):
    return sum(tile - count % tile for count in counts)


# ---- all_together: the sum of tokens says nothing
def padding(counts, tile):
    return -sum(counts) % tile


# ---- whole_tile: A whole tile an expert is the worst case
def spread(tokens, top_k, experts, tile):
    return experts * tile / (tokens * top_k)


# ---- one_expert: A token asks for a row in each of its experts
def spread(tokens, top_k, experts, tile):
    return experts * (tile / 2) / tokens


# ---- upside_down: That is the share of rows that were asked for
def of_computed(share):
    return 1 / (1 + share)


# ---- rounded_down: which is above
def fewest(share, top_k, experts, tile):
    return int(experts * tile / 2 / (share * top_k))


# ---- too_many: but not the fewest
def fewest(share, top_k, experts, tile):
    return int(experts * tile / 2 / (share * top_k)) + 1

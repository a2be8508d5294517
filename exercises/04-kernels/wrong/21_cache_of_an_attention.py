# ---- keys_only: Those are the keys
def multi_head():
    return 60 * 128 * 128 * 2


# ---- a_layer: That is one layer
def grouped():
    return 16 * 256 * 2


# ---- grouped_there: Here all query heads share one
def multi_query():
    return grouped()


# ---- no_place: 576 columns, not 512
def latent():
    return 60 * 512 * 2


# ---- twice: it is kept, and read, once
def latent():
    return 2 * 60 * 576 * 2


# ---- shared_out: Heads can be shared out, the row cannot
def latent_on_each():
    return latent() / 8


def tokens():
    return 40e9 // latent()


# ---- all_of_them: A GPU keeps only the KV heads
def grouped_on_each():
    return grouped()


# ---- together: each keeps every row
def tokens():
    return 8 * 40e9 // latent()

# ---- single: double quantization makes them 8 bits
def nf4_bits(group, second):
    return 4 + 32 / group


# ---- per_scale: not by as many weights as it has scales
def nf4_bits(group, second):
    return 4 + 8 / group + 32 / second


# ---- one_layer: Those are the adapters of one layer
def adapter_weights(matrices, layers, rank):
    return rank * sum(rows + columns for rows, columns in matrices)


# ---- one_matrix: yours has the one at the inputs
def adapter_weights(matrices, layers, rank):
    return layers * rank * sum(columns for rows, columns in matrices)


# ---- one_moment: with its gradient and Adam's two moments there are four
def learning_bytes(adapters):
    return 3 * 4 * adapters


# ---- one_copy: three copies are there
def activation_bytes(layers, tokens, hidden, vocabulary):
    return 2 * tokens * (layers * hidden + vocabulary)


# ---- all_learn: Frozen weights have no gradients; yours do
def step_bytes(matrices, layers, others, rank, tokens, hidden, vocabulary):
    frozen = layers * sum(rows * columns for rows, columns in matrices)
    base = frozen * nf4_bits(64, 256) / 8 + 2 * frozen + 2 * others
    learned = learning_bytes(adapter_weights(matrices, layers, rank))
    return base + learned + activation_bytes(layers, tokens, hidden, vocabulary)


# ---- embedding: Embedding, output matrix and norms are left out
def step_bytes(matrices, layers, others, rank, tokens, hidden, vocabulary):
    frozen = layers * sum(rows * columns for rows, columns in matrices)
    learned = learning_bytes(adapter_weights(matrices, layers, rank))
    moment = activation_bytes(layers, tokens, hidden, vocabulary)
    return frozen * nf4_bits(64, 256) / 8 + learned + moment

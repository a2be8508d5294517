# diagnosis: A copy is no kernel.
def busy(events):
    return kernel_trace.busy([{**e, "cat": "kernel"} for e in events])


def tensor(events, peak):
    return kernel_trace.tensor_share(events, peak)

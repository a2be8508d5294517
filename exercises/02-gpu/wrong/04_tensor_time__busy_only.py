# diagnosis: You paid for the gaps too.
def busy(events):
    return kernel_trace.busy(events)


def tensor(events, peak):
    return kernel_trace.tensor_share(events, peak) / busy(events)

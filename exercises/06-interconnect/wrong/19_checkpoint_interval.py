# ---- same_cluster: the other has another number of GPUs
def between(failures, days, gpus, larger):
    return days * 86400 / failures


# ---- longer: A larger cluster fails more often
def between(failures, days, gpus, larger):
    return days * 86400 / failures * larger / gpus


# ---- hours: That is in hours
def between(failures, days, gpus, larger):
    return days * 24 / failures * gpus / larger


# ---- no_half: falls in the middle of an interval
def interval(saving, mean):
    return math.sqrt(saving * mean)


# ---- no_restart: Restarts are missing
def lost(interval, saving, restart, mean):
    return saving / interval + interval / (2 * mean)


# ---- each_checkpoint: not with each checkpoint
def lost(interval, saving, restart, mean):
    return (saving + restart) / interval + interval / (2 * mean)

"""Section 6.16: How often must a cluster save its work?"""

from __future__ import annotations

from typing import Any

from stacklib.evidence import results
from stacklib.interconnect.failures import cluster, goodput, processes
from stacklib.memory.tiers import checkpoint
from stacklib.memory.tiers.parts import constant, drive
from stacklib.pages.figures_of import published
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, counted, counting, quoted, recorded
from stacklib.quantity.constants import case
from stacklib.roofline.work.moving import link_time, moving_time

MODEL, DEVICE = "llama-3.1-405b", "h100_sxm"
LARGE = 100_000  # GPUs
PER_HOST = case("chips")
HERD = "The Llama 3 Herd of Models"
REPAIR_H, WAITING = 24, 0.01  # hours that a host is away; share of the time to wait
STEPS, EVERY, FAILS = 40, 6, 0.12  # of the small run
SEED, SEGMENTS = 4, 2_000

# -- how often something fails ---------------------------------------------------------


def gpus(number: int = 0) -> Quantity:
    """GPUs of the cluster: the one that was watched, or one of a size."""
    if not number:
        return constant("llama3_gpus")
    return stand(__name__, "gpus", number).named("GPUs of the cluster")


def per_host() -> Quantity:
    """GPUs of a server."""
    return chosen(PER_HOST, label="GPUs of a server")


def per_gpu() -> Quantity:
    """Interruptions a second of one GPU and its share of everything else."""
    rate = cluster.rate_per_part(
        constant("llama3_failures"), constant("llama3_gpus"), constant("llama3_days")
    )
    return rate.named("interruptions of one GPU's share")


def between(number: int = 0) -> Quantity:
    """Mean time between interruptions of a cluster of a size."""
    mean = cluster.between_failures(per_gpu(), gpus(number))
    return mean.named("time between failures")


def causes_of(part: str) -> Quantity:
    """Interruptions whose cause was a part of this kind, published."""
    found = sum(cause.count for cause in cluster.CAUSES if cause.part == part)
    label, key = f"interruptions, {part}", f"causes/{part}"
    return published(found, "", label, HERD, key, where="table 5")


def share_of(part: str) -> Quantity:
    """Their share of all."""
    return (causes_of(part) / constant("llama3_failures")).named(f"share, {part}")


def faulty() -> Quantity:
    """Interruptions by faulty GPUs, as counted in the table."""
    return quoted("llama3.faulty")


def faulty_printed() -> Quantity:
    """Their share as the table prints it."""
    return quoted("llama3.faulty_share")


def faulty_share() -> Quantity:
    """Their share by the table's own counts."""
    return (faulty() / constant("llama3_failures")).named("share of faulty GPUs")


@counting("between failures, drawn", unit="s")
def drawn_between() -> float:
    """The mean time between failures where every host has clocks of its own."""
    hosts = int(constant("llama3_gpus").si) // PER_HOST
    time = constant("llama3_days").si
    rates = [(c.name, c.count / (hosts * time)) for c in cluster.CAUSES]
    runs = (
        cluster.run_cluster(rates, hosts=hosts, time=time, seed=seed)
        for seed in range(5)
    )
    return 5 * time / sum(len(run.times) for run in runs)


# -- hosts that wait to be repaired ----------------------------------------------------


def broken(number: int = 0) -> Quantity:
    """Hosts under repair on average, those that must be taken out."""
    rate = (share_of("gpu") + share_of("host")) * per_gpu()
    repair = chosen(REPAIR_H, "h", label="repair of a host")
    return cluster.down(rate, gpus(number), repair).named("hosts under repair")


def spares(number: int = 0) -> Quantity:
    """Spare hosts with which the job hardly ever waits for one."""
    return counted(cluster.spares_for, broken(number), WAITING, label="spare hosts")


@counting("time with too few spares, drawn")
def short(number: int = 0) -> float:
    """Share of the time with too few spares, drawn."""
    rate = (share_of("gpu") + share_of("host")).si * per_gpu().si
    found = cluster.run_repairs(
        rate * PER_HOST,
        hosts=int(gpus(number).si) // PER_HOST,
        repair=REPAIR_H * 3600.0,
        spares=int(spares(number).si),
    )
    return found[1]


# -- what a checkpoint costs, and how often to take one --------------------------------


def size() -> Quantity:
    """Bytes of a checkpoint: weights, a copy in fp32, both moments."""
    return checkpoint.checkpoint_bytes(MODEL)


def storage() -> Quantity:
    """Rate at which the cluster's storage takes what is written, sustained."""
    return quoted("llama3.storage")


def cost() -> Quantity:
    """Time in which everybody waits for a checkpoint written at once."""
    return moving_time(size(), storage()).named("writing a checkpoint")


def copied(number: int = 0) -> Quantity:
    """Time in which every GPU copies its share to its host."""
    each = size() / gpus(number)
    return link_time(each, "pcie5_x16", achieved=True).named("copying a checkpoint")


def restart(minutes: int = 10) -> Quantity:
    """From a failure to the next useful step: noticed, replaced, started, read."""
    return stand(__name__, "restart", minutes, "min").named("a restart")


def best(number: int = 0, *, cost_of: Quantity | None = None) -> Quantity:
    """The interval that loses least."""
    held = cost() if cost_of is None else cost_of
    return counted(best_of, held, between(number), unit="s", label="best interval")


def best_of(cost: Quantity, mean: Quantity) -> float:
    """Seconds between checkpoints that lose least, by their cost and the failures."""
    return goodput.best_interval(cost.si, mean.si)


def young(number: int = 0) -> Quantity:
    """Young's interval."""
    interval = checkpoint.young_interval(cost(), between(number))
    named: Quantity = interval.named("Young's interval")
    return named


def useful_of(
    interval: Quantity, cost: Quantity, restart: Quantity, mean: Quantity
) -> float:
    """Share of the time that is work, by the interval and what is lost."""
    return goodput.useful_share(
        interval.si, cost=cost.si, restart=restart.si, between_failures=mean.si
    )


def useful(
    interval: Quantity, number: int = 0, *, restart_of: Quantity | None = None
) -> Quantity:
    """Share of the time that is work, and not done again."""
    again = restart() if restart_of is None else restart_of
    args = (interval, cost(), again, between(number))
    return counted(useful_of, *args, label="useful share")


def lost(interval: Quantity, number: int = 0) -> Quantity:
    """The rest."""
    return (1 - useful(interval, number)).named("lost")


@counting("lost, drawn")
def lost_drawn(interval: Quantity, number: int = 0) -> float:
    """The rest, drawn failure by failure."""
    drawn = checkpoint.run_failures(
        interval.si,
        cost=cost().si,
        restart=restart().si,
        between_failures=between(number).si,
        segments=40_000,
    )
    return 1 - 1 / drawn


def drives() -> Quantity:
    """Time in which one fast drive would write the checkpoint alone."""
    rate = drive("micron_9550").write
    return moving_time(size(), rate).named("one drive writes a checkpoint")


# -- real processes ----------------------------------------------------------------


@counting("steps, mean")
def mean_steps() -> float:
    """Steps executed on average until the small run is through, closed form."""
    segments, rest = divmod(STEPS, EVERY)
    steps = goodput.steps_for_a_segment
    return segments * steps(EVERY, FAILS) + (steps(rest, FAILS) if rest else 0)


@counting("steps, mean of replays")
def mean_replayed() -> float:
    """The same, from many replays."""
    runs = range(SEGMENTS)
    kills = [goodput.draw_kills(FAILS, seed) for seed in runs]
    done = [goodput.replay(STEPS, EVERY, kill).executed for kill in kills]
    return sum(done) / len(done)


def replayed() -> goodput.Replay:
    """One of them: the kills that the processes get."""
    return goodput.replay(STEPS, EVERY, goodput.draw_kills(FAILS, SEED))


def killed() -> processes.Killed:
    """The same kills, by SIGKILL, of real processes."""
    return processes.run_killed(STEPS, EVERY, goodput.draw_kills(FAILS, SEED))


@counting("steps executed by processes")
def by_processes() -> int:
    """Steps that the processes executed."""
    return killed().counts.executed


@counting("steps executed")
def executed() -> int:
    """Steps that the replay of these kills executes."""
    return replayed().executed


@counting("kills")
def restarts() -> int:
    """Processes killed in it."""
    return replayed().restarts


# -- a training of the book's model ----------------------------------------------------


def interrupted(field: str) -> Quantity:
    """What was seen of the training that was killed."""
    name = "interrupted_training"
    label = f"training killed, {field}"
    return recorded(results.file(name), "killed", field, label=label)


def rows(number: int = 0) -> list[dict[str, Any]]:
    """The table of intervals: lost by formula and drawn."""
    at = best(number)
    intervals = {
        "one tenth of the best": at / 10,
        "one third": at / 3,
        "the best": at,
        "three times": at * 3,
        "ten times": at * 10,
    }
    return [
        {
            "interval": name,
            "time": interval.to("min"),
            "lost": lost(interval, number).to("%"),
            "lost, drawn": lost_drawn(interval, number).to("%"),
        }
        for name, interval in intervals.items()
    ]

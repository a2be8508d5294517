"""The tiny model in stages: every schedule gives the whole model's loss and gradients.

Stages are threads here, and what they send each other goes through a dictionary; as
processes over sockets they are slow to start (`test_stage_processes`).
"""

import threading

import pytest

torch = pytest.importorskip("torch")

from stacklib.interconnect.pipelines.order import (  # noqa: E402
    FORWARD,
    INPUTS,
    WEIGHTS,
    Pipeline,
    Work,
    pipeline,
)
from stacklib.interconnect.sharding.stages_torch import (  # noqa: E402
    EMBEDDING,
    Part,
    carry_out,
)
from stacklib.interconnect.sharding.worker_torch import stream  # noqa: E402
from stacklib.tinylm.config import DATA, read_config  # noqa: E402
from stacklib.tinylm.model_torch import Decoder  # noqa: E402
from stacklib.tinylm.train_torch import text_loss  # noqa: E402

MANY, TOKENS = 4, 16


class Shelf:
    """A wire between threads."""

    def __init__(self) -> None:
        self.there: dict[object, torch.Tensor] = {}
        self.changed = threading.Condition()

    def send(self, tensor, stage, tag):
        with self.changed:
            assert (stage, tag) not in self.there
            self.there[stage, tag] = tensor
            self.changed.notify_all()

    def receive(self, shape, stage, tag):
        me = int(threading.current_thread().name)
        with self.changed:
            came = self.changed.wait_for(lambda: (me, tag) in self.there, timeout=30)
            assert came, f"stage {me} waits for {tag} of stage {stage}"
            found = self.there.pop((me, tag))
        assert tuple(found.shape) == tuple(shape)
        return found


@pytest.fixture(scope="module")
def whole():
    """The model, its ids, its loss and its gradients."""
    torch.manual_seed(0)
    model = Decoder(read_config(DATA / "tiny" / "config.json"))
    ids = torch.from_numpy(stream(MANY * (TOKENS + 1))).view(MANY, TOKENS + 1)
    loss = text_loss(model(ids[:, :-1]), ids)
    loss.backward()
    return model, ids, loss.item()


def carried(plan: Pipeline, whole):
    """Every stage in a thread of its own."""
    model, ids, _ = whole
    count, shelf = plan.stages * plan.chunks, Shelf()
    parts = {at: Part(model, at, count) for at in range(count)}
    done = {}

    def work(stage: int) -> None:
        mine = {at: part for at, part in parts.items() if at % plan.stages == stage}
        done[stage] = carry_out(plan, stage, mine, ids.split(1), shelf)

    threads = [
        threading.Thread(target=work, args=(stage,), name=str(stage))
        for stage in range(plan.stages)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == plan.stages, "a stage ended badly"
    assert not shelf.there
    return parts, [done[stage] for stage in range(plan.stages)]


PLANS = [
    pipeline(stages, MANY, schedule, chunks)
    for stages in (1, 2, 4)
    for schedule, chunks in (
        ("gpipe", 1),
        ("1f1b", 1),
        ("zb-h1", 1),
        ("zb-h2", 1),
        ("1f1b", 2),
    )
    if stages * chunks <= 4
]


@pytest.mark.parametrize(
    "plan", PLANS, ids=lambda plan: f"{plan.schedule}-{plan.stages}x{plan.chunks}"
)
def test_stages_give_what_the_whole_gives(plan, whole):
    model, _, loss = whole
    parts, done = carried(plan, whole)
    assert sum(one.loss for one in done) == pytest.approx(loss, rel=1e-6)
    for at, part in parts.items():
        for name, weight in part.weights.items():
            right = model.weights[name].grad
            off = (weight.grad - right).norm() / right.norm()
            assert off < 1e-5, (at, name, off)
    for one, order in zip(done, plan.orders, strict=True):
        assert [span.work for span in one.spans] == list(order)


def test_a_stage_keeps_as_many_microbatches_as_the_simulator_says(whole):
    """Of two middle stages, whose parts are alike: bytes per microbatch are one."""
    kept = {}
    for name, held in (("gpipe", 4), ("1f1b", 3)):
        _, done = carried(pipeline(4, MANY, name), whole)
        kept[name] = done[1].kept / held
    assert kept["gpipe"] == pytest.approx(kept["1f1b"], rel=0.02)


def test_what_is_put_aside_is_kept_until_it_is_multiplied(whole):
    """All inputs' parts first, then all weights': more is kept than turn by turn."""
    model, ids, _ = whole

    def kept(order: list[Work]) -> int:
        plan = Pipeline((tuple(order),), MANY)
        return carry_out(plan, 0, {0: Part(model, 0, 1)}, ids.split(1), Shelf()).kept

    turns = [Work(kind, k) for k in range(MANY) for kind in (FORWARD, INPUTS, WEIGHTS)]
    late = sorted(turns, key=lambda work: work.kind == WEIGHTS)
    assert kept(late) > 2 * kept(turns)


def test_the_embedding_is_one_weight_in_two_parts(whole):
    parts, _ = carried(pipeline(2, MANY), whole)
    first, last = (parts[at].weights[EMBEDDING].grad for at in (0, 1))
    assert torch.equal(first, last)


def test_layers_that_do_not_divide_are_refused(whole):
    with pytest.raises(ValueError, match="4 layers in 3 parts"):
        Part(whole[0], 0, 3)


def test_batches_that_are_not_the_plans_are_refused(whole):
    model, ids, _ = whole
    with pytest.raises(ValueError, match="4 batches of 3 microbatches"):
        carry_out(pipeline(1, 3), 0, {0: Part(model, 0, 1)}, ids.split(1), Shelf())

"""The engine's thread: it waits for no reader, and lets go of who has left."""

import asyncio
import json
import os
import socket
from dataclasses import replace

import pytest

from stacklib import tinylm
from stacklib.cli import main
from stacklib.roofline.host.measure import THREAD_VARIABLES
from stacklib.serving import Engine
from stacklib.serving.server import worker as workers
from stacklib.serving.server.answers import Shape
from stacklib.serving.server.app import Events
from stacklib.serving.server.asked import asked
from stacklib.serving.server.refused import Refused
from stacklib.serving.server.run import is_loopback

MODEL = tinylm.load("draft")


@pytest.fixture
def one_thread(monkeypatch):
    """The command sets variables that BLAS reads: here they are put back."""
    for name in THREAD_VARIABLES:
        monkeypatch.setenv(name, "1")


def body(**how):
    given = {"model": "draft", "prompt": "x", "stream": True, "temperature": 0} | how
    return asked(json.dumps(given).encode(), MODEL, chat=False)


def run(what, most=8, blocks=64):
    """What a coroutine says that is given a worker; its sentences, too."""
    said = []

    async def held():
        engine = Engine(MODEL, blocks=blocks, block_size=16, max_batch=4, chunk=16)
        worker = workers.Worker(engine, most, said.append)
        try:
            return await asyncio.wait_for(what(worker), 60)
        finally:
            worker.close()

    return asyncio.run(held()), said


def test_who_leaves_is_gone_within_two_steps():
    async def leave(worker):
        answer = await worker.submit(body(max_tokens=400, n=2))
        await anext(answer.read())
        steps = worker.engine.metrics().counts.steps
        worker.abandon(answer)
        worker.abandon(answer)  # twice: no error
        # Made right behind: what the engine did before both.
        return steps, await worker.call(worker.engine.metrics)

    (steps, after), _ = run(leave)
    assert after.counts.steps <= steps + 2 and after.counts.cancelled == 2
    assert after.running == after.waiting == after.blocks_used == 0


def test_a_reader_too_slow_is_cut_off_and_no_step_waits(monkeypatch):
    """One whose connection takes nothing; another gets its whole answer meanwhile."""
    monkeypatch.setattr(workers, "UNREAD", 10)

    async def stuck(_):
        await asyncio.Event().wait()

    async def both(worker):
        slow, quick = body(max_tokens=400), body(max_tokens=30, stream=False)
        answer, other = await worker.submit(slow), await worker.submit(quick)
        shape = Shape(slow, answer, MODEL.tokenizer)
        silent = asyncio.Event().wait
        response = Events(shape, lambda: worker.abandon(answer))
        await response({}, silent, stuck)
        moved = [each async for each in other.read()]
        return len(moved), answer, await worker.call(worker.engine.metrics), worker.slow

    (count, answer, after, slow), said = run(both)
    assert count == 30 and slow == 1 and "too slow" in said[0]
    assert answer.requests[0].reason == "cancelled" and after.blocks_used == 0
    assert 10 < len(answer.requests[0].output) < 400


def test_more_than_can_wait_are_told_to_come_again():
    async def flood(worker):
        answer = await worker.submit(body(max_tokens=300, n=6))
        with pytest.raises(Refused) as why:
            await worker.submit(body(n=3))
        with pytest.raises(Refused, match="8 at a time"):  # and never will be served
            await worker.submit(body(n=9))
        worker.abandon(answer)
        await worker.submit(body(n=8))
        return why.value

    why, _ = run(flood)
    assert why.status == 429 and why.headers["Retry-After"] == "1"


@pytest.mark.parametrize(("blocks", "room"), [(64, 512), (4, 65)])
def test_an_answer_without_a_length_has_what_is_left(blocks, room):
    async def ask(worker):
        said = {"model": "draft", "messages": [{"role": "user", "content": "x"}]}
        given = json.dumps(said | {"temperature": 0, "stop": "\n"}).encode()
        answer = await worker.submit(asked(given, MODEL, chat=True))
        worker.abandon(answer)
        return answer.requests[0].asked

    found, _ = run(ask, blocks=blocks)
    assert found.most == room - len(found.tokens)


def test_all_choices_are_served_or_none():
    """The second prompt is too long: the first one's blocks are not kept."""

    async def ask(worker):
        with pytest.raises(Refused, match="600 ") as why:
            await worker.submit(body(prompt=["a", [1] * 600]))
        return why.value, await worker.call(worker.engine.metrics)

    (why, after), _ = run(ask)
    assert (why.status, why.code) == (400, "context_length_exceeded")
    assert after.running == after.waiting == 0


def test_a_grammar_that_breaks_fails_its_own_answer():
    class Broken:
        def start(self):
            return 0

        def allowed(self, state, left=None):
            raise KeyError("no such state")

    async def ask(worker):
        given = body(max_tokens=5, n=2)
        broken = await worker.submit(replace(given, mask=Broken))
        other = await worker.submit(body(max_tokens=5))
        with pytest.raises(Refused, match="no such state"):
            async for _ in broken.read():
                pass
        moved = [each async for each in other.read()]
        return len(moved), await worker.call(worker.engine.metrics)

    (count, after), said = run(ask)
    assert count == 5 and after.blocks_used == after.running == 0
    assert "no such state" in said[0]


def test_an_engine_that_fails_is_told_to_everybody(monkeypatch):
    async def ask(worker):
        monkeypatch.setattr(worker.engine, "step", lambda: 1 / 0)
        answer = await worker.submit(body())
        for attempt in (answer.read().__anext__(), worker.call(worker.engine.metrics)):
            with pytest.raises(Refused, match="ZeroDivisionError") as why:
                await attempt
        return why.value.status

    status, said = run(ask)
    assert status == 503 and "ZeroDivisionError" in said[0]


def test_the_end_of_the_server_ends_its_answers():
    async def ask(worker):
        answer = await worker.submit(body(max_tokens=400))
        await asyncio.to_thread(worker.close)
        with pytest.raises(Refused, match="ends"):
            async for _ in answer.read():
                pass

    run(ask)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--host 0.0.0.0", "--expose"),
        ("--host example.org", "--expose"),
        ("--host ::", "--expose"),
        ("--port 70000", "65535"),
        ("--port taken", "a whole number"),
        ("--blocks 0", "blocks = 0"),
        ("--chunk 3 --max-batch 4", "chunk = 3"),
        ("--waiting -1", "waiting = -1"),
        ("--model tny", "did you mean: tiny"),
    ],
)
def test_what_cannot_be_served_is_said(capsys, one_thread, flags, says):
    assert main(["serve", *flags.split()]) == 2
    assert says in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(capsys, one_thread):
    with socket.create_server(("127.0.0.1", 0)) as held:
        assert main(["serve", "--port", str(held.getsockname()[1])]) == 2
    assert "in use" in capsys.readouterr().err


def test_it_asks_for_one_thread_unless_told_otherwise(monkeypatch, one_thread, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    main(["serve", "--port", "-1"])
    assert os.environ["OMP_NUM_THREADS"] == "2"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"


def test_loopback_is_read_from_what_is_written():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org")))

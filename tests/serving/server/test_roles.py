"""Two servers that share each request: one engine's answers, and whatever breaks."""

import json
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from stacklib import tinylm
from stacklib.cli import main
from stacklib.serving import Engine
from stacklib.serving.pools.exchange import (
    SIZES,
    Reader,
    Writer,
    answered,
    head,
    packed,
    unpacked,
)
from stacklib.serving.server.peer import Peer
from stacklib.serving.server.refused import Refused
from stacklib.serving.server.run import peer_at

from .served import asked, server

TINY, DRAFT = tinylm.load(), tinylm.load("draft")
PROMPTS = [list(range(7 * n, 8 * n)) for n in (40, 16, 33, 70)]
FLAGS = "--blocks 64 --max-batch 4 --role"


def completed(address, prompt):
    """Status and answer."""
    body = {"model": "tiny", "prompt": prompt, "max_tokens": 8, "temperature": 0}
    given = json.dumps(body | {"logprobs": 0})
    status, _, data = asked(address, "POST", "/v1/completions", given)
    return status, json.loads(data)


def test_two_servers_answer_as_one_engine_and_name_the_one_that_is_gone():
    alone = Engine(TINY, **SIZES)
    with (
        server(f"{FLAGS} prefill") as (first, where),
        server(f"{FLAGS} decode --peer {where[0]}:{where[1]}") as (_, door),
    ):
        with ThreadPoolExecutor(len(PROMPTS)) as threads:  # all at once
            found = [*threads.map(partial(completed, door), PROMPTS)]
        for (_, said), prompt in zip(found, PROMPTS, strict=True):
            told = said["choices"][0]["logprobs"]["tokens"]
            tokens = answered(alone, prompt, 8)
            assert told == [TINY.tokenizer.decode([t]).decode() for t in tokens]
        told = [said["usage"]["prompt_tokens_details"] for _, said in found]
        cached = [each["cached_tokens"] for each in told]
        assert cached == [32, 0, 32, 64]  # full blocks before a last token
        assert completed(where, PROMPTS[0])[0] == 404  # it reads for others
        first.send_signal(signal.SIGTERM)
        assert first.wait(20) == 0
        status, said = completed(door, PROMPTS[0][::-1])
        assert status == 503 and f"peer {where[0]}:{where[1]}" in str(said)
        assert completed(door, [5, 6, 7])[0] == 200  # needs nobody


@pytest.fixture
def silent():
    """A server that says what it is told to, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        said = []

        def serve():
            while True:
                try:
                    link, _ = door.accept()
                except OSError:
                    return
                with link:
                    asked = b""
                    while not asked.endswith((b"\r\n\r\n", b"}")) or (
                        asked.startswith(b"POST") and not asked.endswith(b"}")
                    ):
                        asked += link.recv(1 << 16)  # all: who closes before resets
                    link.sendall(said[-1])

        threading.Thread(target=serve, daemon=True).start()
        yield door.getsockname()[1], said
        door.shutdown(socket.SHUT_RDWR)


def reply(body, status="200 OK", length=None):
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n\r\n".encode() + body


HEAD = Writer(TINY, **SIZES).head


@pytest.mark.parametrize(
    "raw, says",
    [
        (b"", "closed connection without response"),
        (b"SSH-2.0-x\r\n", "SSH-2.0-x"),
        (reply(b"x" * 10, length=99), "10 bytes read, 89 more expected"),
        (reply(b"{}", "500 No"), "status 500"),
        (reply(b'{"error": {"message": "ended"}}', "503 No"), "ended"),
    ],
)
def test_a_connection_that_breaks_is_named(silent, raw, says):
    port, said = silent
    said.append(raw)
    with pytest.raises(Refused, match=says) as why:
        Peer("127.0.0.1", port, HEAD).blocks("tiny", PROMPTS[0])
    assert why.value.status == 503 and f"127.0.0.1:{port}" in str(why.value)
    assert "not begun" in str(why.value)
    assert why.value.headers == {"Retry-After": "1"}


@pytest.mark.parametrize(
    "raw, says",
    [
        (reply(b"hello"), "no server with --role prefill"),
        (reply(b"{}", "404 Not Found"), "no server with --role prefill"),
        (reply(json.dumps(HEAD | {"model": "00"}).encode()), "another model"),
        (reply(json.dumps(HEAD | {"block_size": 8}).encode()), "block_size 8 there"),
    ],
)
def test_a_peer_that_is_another_is_refused_at_the_start(silent, raw, says):
    port, said = silent
    said.append(raw)
    with pytest.raises(ValueError, match=says):
        peer_at(f"127.0.0.1:{port}", Writer(TINY, **SIZES), False)


@pytest.mark.parametrize(
    "words, says",
    [
        (["--role", "decode"], "needs the HOST:PORT"),
        (["--role", "prefill", "--peer", "127.0.0.1:1"], "no other has a peer"),
        (["--peer", "127.0.0.1:1"], "--role none"),
        (["--role", "decode", "--peer", "nowhere"], "--peer nowhere: HOST:PORT"),
        (["--role", "decode", "--peer", "127.0.0.1:0"], "HOST:PORT"),
        (["--role", "decode", "--peer", "10.0.0.1:80"], "add --expose"),
        (["--role", "decode", "--peer", "127.0.0.1:1"], "--role prefill"),
    ],
)
def test_roles_that_cannot_be_are_refused(words, says, capsys):
    assert main(["serve", "--port", "0", "--model", "draft", *words]) == 2
    assert says in capsys.readouterr().err


def test_blocks_cross_bit_by_bit_or_not_at_all():
    reader, writer = Reader(TINY, **SIZES), Writer(TINY, **SIZES)
    answered(reader, PROMPTS[0], 1)
    data = reader.computed(PROMPTS[0])
    k = unpacked(data, writer.head)[1][1]
    assert (k == reader._pool.read(1)[0]).all() and np.abs(k).max() > 0
    assert packed(writer.head, unpacked(data, writer.head)) == data
    for broken, says in (
        (data[:-1], "bytes; "),
        (data + b"x", "bytes; "),
        (b"\x80" + data, "no head"),
        (b"{}\n", "no head"),
        (b'{"keys": []}\n', "another model"),
    ):
        with pytest.raises(ValueError, match=says):
            writer.take(broken, PROMPTS[0])
    with pytest.raises(ValueError, match="another prompt"):
        writer.take(data, PROMPTS[0][::-1])
    with pytest.raises(ValueError, match="another model"):
        Writer(DRAFT, **SIZES).take(data, PROMPTS[0])
    with pytest.raises(ValueError, match="another size"):
        same = dict(SIZES, block_size=8)
        Writer(TINY, **same).take(data, PROMPTS[0])
    assert writer.take(data, PROMPTS[0]) == 2 * 2 * k.nbytes
    assert head(b"a", (1, 2, 3, 4))["block_size"] == 3


def test_blocks_that_had_to_go_are_computed_again():
    small = dict(SIZES, blocks=6)
    reader, writer = Reader(TINY, **small), Writer(TINY, held=2, **SIZES)
    answered(reader, PROMPTS[3], 1)
    answered(reader, PROMPTS[0], 1)
    assert len(unpacked(reader.computed(PROMPTS[3]), writer.head)) < 4
    alone = Engine(TINY, **SIZES)
    for prompt in (PROMPTS[3], PROMPTS[0]):  # of which the writer keeps two blocks
        answered(reader, prompt, 1)
        writer.take(reader.computed(prompt), prompt)
        assert answered(writer, prompt, 6) == answered(alone, prompt, 6)

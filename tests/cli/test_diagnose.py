"""``stacklib diagnose``: three logs, other encodings, and what is refused."""

import io
import json
import sys

import pytest

from stacklib.serving.readings.read import log_sample

VLLM = ["--model", "llama-3-8b", "--on", "h100-sxm"]
LOGS = {
    "vllm": VLLM,
    "sglang": ["--model", "llama-3-70b", "--on", "h100-sxm"],
    "llama_cpp": ["--model", "qwen2.5-32b", "--on", "rtx-4090", "--dtype", "q5_k_m"],
}


@pytest.fixture
def log(tmp_path):
    """A file of some bytes."""

    def write(data):
        path = tmp_path / "server.log"
        path.write_bytes(data)
        return str(path)

    return write


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_diagnosed(name, run, log):
    path = log(log_sample(name).encode())
    status, out, _ = run("diagnose", path, *LOGS[name])
    assert status == 0 and "equal" in out and "refuted if" in out and "! " not in out
    status, out, _ = run("diagnose", path, *LOGS[name], "--json")
    found = json.loads(out)
    assert status == 0 and found["causes"][0]["evidence"][0]["line"] > 1
    assert all(check["equal"] for check in found["checks"])


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_what_windows_writes(coding, run, log):
    text = log_sample("vllm").replace("\n", "\r\n")
    assert run("diagnose", log(text.encode(coding)), *VLLM)[0] == 0


def test_the_book_s_own_model(run, log):
    text = b"stacklib:num_requests_running 1.0\nstacklib:kv_cache_usage_perc 0.5\n"
    status, out, _ = run("diagnose", log(text), "--model", "tiny", "--on", "h100-sxm")
    assert status == 0 and "tinylm-tiny on h100_sxm: not saturated" in out


def test_first_tokens_of_metrics(run, log):
    name = "vllm:time_to_first_token_seconds_bucket"
    text = f'{name}{{le="0.5"}} 4.0\n{name}{{le="+Inf"}} 4.0\n'
    text += "vllm:num_requests_running 1.0\n"
    assert "came within 250 ms" in run("diagnose", log(text.encode()), *VLLM)[1]


def test_standard_input(run, monkeypatch):
    class Piped:
        buffer = io.BytesIO(log_sample("vllm").encode() + b"GPU KV cache size: new\n")

    monkeypatch.setattr(sys, "stdin", Piped)
    status, out, _ = run("diagnose", "-", *VLLM)
    assert status == 0 and "not read, line 18: GPU KV cache size: new" in out


@pytest.mark.parametrize(
    "data, argv, says",
    [
        (b"", VLLM, "nothing to read"),
        (b"\x89PNG\r\n\x1a\n\0\0", VLLM, "not text"),
        (b"\xff\xfe", VLLM, "nothing to read"),
        (b"hello\n", VLLM, "line 1: 'hello'"),
        (b"vllm:num_requests_running 1.0\n", [*VLLM, "--tp", "3"], "tp = 3"),
        (b"", ["--model", "llama-3-8c", "--on", "h100"], "did you mean: llama-3-8b"),
    ],
)
def test_bad_input_is_two(data, argv, says, run, log):
    status, _, err = run("diagnose", log(data), *argv)
    assert status == 2 and says in err


def test_a_file_that_is_none(run, tmp_path):
    status, _, err = run("diagnose", str(tmp_path / "no.log"), *VLLM)
    assert status == 2 and "no.log" in err
    assert run("diagnose", str(tmp_path), *VLLM)[0] == 2

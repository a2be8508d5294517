"""The server as its clients see it: one process, asked by OpenAI's own client."""

import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

from stacklib import tinylm

from .served import asked, server

PROMPT = "Return a list of"
SLOTS, LINE = 4, 12


@pytest.fixture(scope="module")
def address():
    """Host and port of a server."""
    with server(f"--max-batch {SLOTS} --waiting {LINE} --blocks 128") as (_, found):
        for _ in range(200):
            if asked(found, "GET", "/health")[0] == 200:
                break
            time.sleep(0.1)
        yield found


@pytest.fixture(scope="module")
def client(address):
    url = "http://{}:{}/v1".format(*address)
    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as found:
        yield found


def metrics(address):
    """The values of /metrics that have no label but the model's."""
    lines = asked(address, "GET", "/metrics")[2].decode().splitlines()
    found = (line.split('{model_name="tiny"} ') for line in lines)
    return {name: float(v) for name, v in (pair for pair in found if len(pair) == 2)}


def alone(tokens, **how):
    return "".join(tinylm.generate(PROMPT, tokens=tokens, **{"top_p": 1.0} | how))


def test_an_answer_is_what_the_model_says_alone(client):
    for how in ({"temperature": 0}, {"temperature": 0.8, "top_p": 0.9, "seed": 5}):
        found = client.completions.create(
            model="tiny", prompt=PROMPT, max_tokens=12, **how
        )
        assert found.choices[0].text == alone(12, **how)
        assert found.choices[0].finish_reason == "length"
        said = [{"role": "system", "content": ""}, {"role": "user", "content": PROMPT}]
        stream = client.chat.completions.create(
            model="tiny",
            messages=said[1:],
            max_completion_tokens=12,
            stream=True,
            stream_options={"include_usage": True},
            **how,
        )
        *chunks, last = list(stream)
        pieces = [chunk.choices[0].delta.content or "" for chunk in chunks]
        assert "".join(pieces) == alone(12, **how) and len(pieces) > 6
        assert chunks[-1].choices[0].finish_reason == "length" and not last.choices
        assert last.usage.completion_tokens == 12
        ids = tinylm.load().tokenizer.encode(PROMPT)
        assert last.usage.prompt_tokens == len(ids) + 1 == found.usage.prompt_tokens


def test_several_prompts_choices_stops_and_logprobs(client):
    whole = alone(12, temperature=0)
    stop = whole[5:8]
    found = client.completions.create(
        model="tiny",
        prompt=[PROMPT, PROMPT],
        n=2,
        max_tokens=12,
        temperature=0,
        stop=["never", stop],
        logprobs=3,
    )
    assert [choice.index for choice in found.choices] == [0, 1, 2, 3]
    for choice in found.choices:
        assert (choice.text, choice.finish_reason) == (
            whole[: whole.find(stop)],
            "stop",
        )
        top = choice.logprobs.top_logprobs[0]
        # Greedy: what was drawn is the likeliest of the three.
        first, given = choice.logprobs.tokens[0], choice.logprobs.token_logprobs[0]
        assert len(top) == 3 and max(top, key=top.get) == first and top[first] == given
    made = [len(choice.logprobs.tokens) for choice in found.choices]
    assert found.usage.completion_tokens == sum(made)
    drawn = client.completions.create(model="tiny", prompt=PROMPT, n=2, seed=1)
    assert drawn.choices[0].text != drawn.choices[1].text


def test_an_answer_keeps_to_what_it_is_asked_to_be(client):
    def chat(form, seed):
        said = [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]
        found = client.chat.completions.create(
            model="tiny",
            messages=said,
            max_tokens=30,
            seed=seed,
            response_format=form,
            logprobs=True,
            top_logprobs=1,
        )
        (choice,) = found.choices
        assert choice.finish_reason == "stop"
        spelled = bytes(b for token in choice.logprobs.content for b in token.bytes)
        assert spelled.decode() == choice.message.content
        return json.loads(choice.message.content)

    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "n": {"enum": [1, 2]}},
        "required": ["ok", "n"],
        "additionalProperties": False,
    }
    strict = {"name": "x", "schema": schema, "strict": True}
    for seed in range(3):
        found = chat({"type": "json_schema", "json_schema": strict}, seed)
        assert set(found) == {"ok", "n"} and found["n"] in (1, 2)
        assert isinstance(chat({"type": "json_object"}, seed), dict)


@pytest.mark.parametrize(
    ("status", "says", "body"),
    [
        (400, "not JSON", b"{"),
        (400, "not JSON", b"\xff"),
        (400, "not JSON", b"[" * 200_000),
        (400, "NaN", b'{"model": "tiny", "temperature": NaN}'),
        (400, "an object is needed", b"[]"),
        (400, "not JSON", b'{"n": ' + b"1" * 5000 + b"}"),
        (413, "1,048,576", b'"' + b" " * (1 << 20)),
        (404, "'tin'", {"model": "tin"}),
        (400, "model is missing", {"model": None}),
        (400, "temperature = -1", {"temperature": -1}),
        (400, "temperature = inf", b'{"model": "tiny", "temperature": 1e999}'),
        (400, "temperature = 'hot'", {"temperature": "hot"}),
        (400, "temperature = True", {"temperature": True}),
        (400, "top_p = 0", {"top_p": 0}),
        (400, "n = 0", {"n": 0}),
        (400, "n = 1.5", {"n": 1.5}),
        (400, "4 x 9", {"n": 9, "prompt": ["a"] * 4}),
        (400, "max_tokens = 0", {"max_tokens": 0}),
        (400, "2 + 511 = 513 tokens", {"max_tokens": 511}),
        (400, "= 624 tokens", {"prompt": "a " * 10_000}),
        (400, "prompt = []", {"prompt": []}),
        (400, "prompt = {}", {"prompt": {}}),
        (400, "2048", {"prompt": [2048]}),
        (400, "-1", {"prompt": [-1]}),
        (400, "whole numbers", {"prompt": [10**30]}),
        (400, "prompt = True", {"prompt": [True]}),
        (400, "stop = ''", {"stop": ""}),
        (400, "stop = [", {"stop": list("abcde")}),
        (400, "seed = '1'", {"seed": "1"}),
        (400, "logprobs = 6", {"logprobs": 6}),
        (400, "stream = 'yes'", {"stream": "yes"}),
        (400, "without stream", {"stream_options": {"include_usage": True}}),
        (400, "stream_options", {"stream": True, "stream_options": {"usage": True}}),
        (400, "best_of = 2", {"best_of": 2}),
        (400, "best_of = True", {"best_of": True}),
        (400, "unknown field '\\ud800'", {"\ud800": 1}),
        (400, "did you mean: temperature", {"temprature": 1}),
        (400, "response_format = {", {"response_format": {"type": "xml"}}),
        (400, "'pattern'", {"response_format": {"pattern": "a"}}),
        (400, "messages[1] =", {"messages": [{"role": "user", "content": ""}, 3]}),
        (400, "messages[0].content", {"messages": [{"role": "user"}]}),
        (400, "role", {"messages": [{"role": "tool", "content": "x"}]}),
    ],
)
def test_bad_input_has_a_status_and_names_the_value(address, status, says, body):
    path = "/v1/completions"
    if isinstance(body, dict):
        if "messages" in body:
            path = "/v1/chat/completions"
        form = body.get("response_format", {})
        if "pattern" in form:
            held = {"name": "x", "schema": form}
            body = {"response_format": {"type": "json_schema", "json_schema": held}}
        plain = {} if "messages" in body else {"prompt": "x"}
        body = json.dumps({"model": "tiny"} | plain | body)
    found, _, text = asked(address, "POST", path, body)
    assert found == status
    error = json.loads(text)["error"]
    assert says in error["message"] and error["type"] == "invalid_request_error"


def test_a_body_without_a_length_is_cut_off(address):
    parts = (b" " * 65_536 for _ in range(32))
    assert asked(address, "POST", "/v1/completions", parts)[0] == 413


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/completions", 405),
        ("GET", "/v2", 404),
        ("GET", "/v1/models/x", 404),
    ],
)
def test_other_paths_are_refused_in_the_same_words(address, method, path, status):
    found, _, text = asked(address, method, path)
    assert (
        found == status and path.split("/")[-1] in json.loads(text)["error"]["message"]
    )


def test_the_client_raises_errors_of_its_own(client):
    def ask(**how):
        given = {"model": "tiny", "prompt": "x", "max_tokens": 2} | how
        return client.completions.create(**given)

    with pytest.raises(openai.NotFoundError) as missing:
        ask(model="gpt-2")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as long:
        ask(max_tokens=600)
    assert long.value.code == "context_length_exceeded"
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").owned_by == "stacklib"


@pytest.mark.parametrize("stream", [True, False])
def test_who_leaves_frees_his_blocks(address, stream):
    before = metrics(address)
    given = {"model": "tiny", "prompt": PROMPT, "max_tokens": 500, "n": 2}
    given |= {"temperature": 0}  # greedy, it repeats itself and does not end
    link = http.client.HTTPConnection(*address, timeout=60)
    link.request("POST", "/v1/completions", json.dumps(given | {"stream": stream}))
    while not metrics(address)["stacklib:num_blocks_used"]:
        time.sleep(0.01)
    link.close()
    for _ in range(100):
        after = metrics(address)
        if not after["stacklib:num_requests_running"]:
            break
        time.sleep(0.05)
    assert (
        after["stacklib:num_blocks_used"] == after["stacklib:num_requests_running"] == 0
    )
    cancelled = "stacklib:request_cancelled_total"
    assert after[cancelled] == before[cancelled] + 2


def test_of_two_hundred_connections_each_gets_an_answer(address):
    body = json.dumps({"model": "tiny", "prompt": PROMPT, "max_tokens": 2})
    given = [(address, "POST", "/v1/completions", body)] * 200
    with ThreadPoolExecutor(200) as threads:
        found = [each[:2] for each in threads.map(asked, *zip(*given, strict=True))]
    assert {status for status, _ in found} <= {200, 429}
    assert sum(status == 200 for status, _ in found) >= SLOTS + LINE
    refused = [headers for status, headers in found if status == 429]
    assert all(int(headers["Retry-After"]) > 0 for headers in refused)
    after = metrics(address)
    assert (
        after["stacklib:num_blocks_used"] == after["stacklib:num_requests_waiting"] == 0
    )
    assert after["stacklib:request_refused_total"] == len(refused)


def test_metrics_are_in_prometheus_form(address):
    status, headers, text = asked(address, "GET", "/metrics")
    assert status == 200 and "version=0.0.4" in headers["Content-Type"]
    kinds = {}
    for line in text.decode().splitlines():
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split()
            kinds[name] = kind
        elif not line.startswith("#"):
            name, value = line.split("{")[0], float(line.split("} ")[1])
            whole = name.removesuffix("_bucket").removesuffix("_sum")
            assert kinds.get(name) or kinds[whole.removesuffix("_count")] == "histogram"
            assert value >= 0
    first = "stacklib:time_to_first_token_seconds"
    buckets = [
        int(line.split("} ")[1])
        for line in text.decode().splitlines()
        if line.startswith(f"{first}_bucket")
    ]
    count = metrics(address)[f"{first}_count"]
    assert buckets == sorted(buckets) and buckets[-1] == count > 0

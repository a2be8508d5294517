"""The endpoints: OpenAI's for models, completions and chat; health, and metrics."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ..pools.exchange import Reader, Writer
from . import shadow_page
from .answers import Shape
from .asked import Asked, asked
from .metrics import page
from .peer import PATH, Peer
from .refused import Refused
from .shadow import Shadow
from .worker import Answer, Worker

COMPLETIONS = (("/v1/completions", False), ("/v1/chat/completions", True))
MOST_BODY = 1 << 20  # bytes
READ = 16  # times as much is read and dropped: who is still sending reads no answer


def application(
    worker: Worker, peer: Peer | None = None, shadow: Shadow | None = None
) -> Starlette:
    """The server's application around an engine's thread.

    An engine whose blocks can be had reads prompts for others, and answers nobody else.

    - ``peer``: who reads prompts for this one
    - ``shadow``: the simulator beside the engine
    """
    model = worker.engine.model
    reader = worker.engine if isinstance(worker.engine, Reader) else None

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [described(model.name)]})

    async def one_model(request: Request) -> Response:
        name = request.path_params["name"]
        if name != model.name:
            raise Refused(404, f"model {name!r:.60} does not exist here", "model")
        return JSONResponse(described(name))

    async def blocks(request: Request) -> Response:
        assert reader is not None
        if request.method == "GET":
            return JSONResponse(reader.head)
        return await read_for(request, worker, reader)

    async def health(request: Request) -> Response:
        if worker.failed is not None:
            raise Refused(503, worker.failed)
        return JSONResponse({"status": "ok"})

    async def metrics(request: Request) -> Response:
        found = await worker.call(worker.engine.metrics)
        text = page(model.name, found, worker.latencies, worker.slow, worker.refused)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def shadowed(request: Request) -> Response:
        assert shadow is not None
        told = await shadow.told()
        if request.url.path.endswith(".json"):
            return JSONResponse(told)
        return HTMLResponse(shadow_page.page(told))

    async def broken(request: Request, why: Exception) -> Response:
        worker.said("".join(traceback.format_exception(why)))
        return JSONResponse(Refused(500, f"the server failed: {why!r}").body, 500)

    served = [Route(PATH, blocks, methods=["GET", "POST"])]
    if reader is None:
        say = partial(answered, worker=worker, peer=peer)
        served = [
            Route(path, partial(say, chat=chat), methods=["POST"])
            for path, chat in COMPLETIONS
        ]
    if shadow is not None:
        served += [Route("/shadow", shadowed), Route("/shadow.json", shadowed)]
    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/models/{name:path}", one_model),
            Route("/health", health),
            Route("/metrics", metrics),
            *served,
        ],
        exception_handlers={
            Refused: refused,
            HTTPException: no_such_page,
            ClientDisconnect: nobody,
            Exception: broken,
        },
    )


def described(name: str) -> dict[str, Any]:
    """A model, as OpenAI lists it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "stacklib"}


async def refused(request: Request, why: Any) -> Response:
    """What is wrong with a request."""
    return JSONResponse(why.body, why.status, headers=why.headers)


async def no_such_page(request: Request, why: Any) -> Response:
    """Another path or another method."""
    found = Refused(
        why.status_code, f"{request.method} {request.url.path}: {why.detail}"
    )
    return JSONResponse(found.body, found.status, headers=why.headers)


async def nobody(request: Request, why: Any) -> Response:
    """The client went while it was being read."""
    return Response(status_code=499)


async def read_for(request: Request, worker: Worker, reader: Reader) -> Response:
    """Read a prompt for another server, and send what was computed."""
    body = await whole_body(request)
    wanted = await asyncio.to_thread(asked, body, reader.model, False)
    if len(wanted.prompts) != 1:
        raise Refused(400, f"{len(wanted.prompts)} prompts: one at a time", "prompt")
    answer = await worker.submit(wanted)
    try:
        done = await unless(read_all(answer), gone(request.receive))
    finally:
        worker.abandon(answer)
    if not done:
        return Response(status_code=499)
    data = await worker.call(lambda: reader.computed(wanted.prompts[0]))
    return Response(data, media_type="application/octet-stream")


async def fetch(wanted: Asked, worker: Worker, peer: Peer) -> None:
    """Have the peer read the prompts, and keep what it computed."""
    engine = worker.engine
    assert isinstance(engine, Writer)
    for prompt in dict.fromkeys(wanted.prompts):
        if len(prompt) <= peer.head["block_size"]:  # no full block before the last
            continue
        waits = asyncio.get_running_loop().run_in_executor
        data = await waits(peer.pool, peer.blocks, wanted.model, prompt)
        try:
            await worker.call(partial(engine.take, data, prompt))
        except ValueError as why:
            raise peer.lost(why) from None


async def answered(
    request: Request, worker: Worker, peer: Peer | None, chat: bool
) -> Response:
    """Read a request, have it answered, and let go of it when the client does."""
    body = await whole_body(request)
    # Tokens and grammars take a while: others are served meanwhile.
    wanted = await asyncio.to_thread(asked, body, worker.engine.model, chat)
    if peer is not None:
        await fetch(wanted, worker, peer)
    answer = await worker.submit(wanted)
    shape = Shape(wanted, answer, worker.engine.model.tokenizer)
    if wanted.stream:
        return Events(shape, lambda: worker.abandon(answer))
    try:
        done = await unless(read_all(answer), gone(request.receive))
    finally:
        worker.abandon(answer)
    return JSONResponse(shape.whole()) if done else Response(status_code=499)


async def whole_body(request: Request) -> bytes:
    """The body, unless it is too long."""
    held, count = bytearray(), 0
    async for part in request.stream():
        count += len(part)
        if count <= MOST_BODY:
            held += part
        elif count > READ * MOST_BODY:
            break
    if count > MOST_BODY:
        raise Refused(413, f"a body of over {MOST_BODY:,} bytes")
    return bytes(held)


async def read_all(answer: Answer) -> None:
    """Wait for the end of every choice."""
    async for _ in answer.read():
        pass


async def gone(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unless(work: Any, *others: Any) -> bool:
    """Do some work unless one of the others ends first; whether it was done."""
    tasks = [asyncio.ensure_future(each) for each in (work, *others)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    if not tasks[0].done():
        return False
    tasks[0].result()
    return True


class Events(Response):
    """A stream of events, until its reader leaves or proves too slow."""

    media_type = "text/event-stream"

    def __init__(self, shape: Shape, abandon: Callable[[], None]) -> None:
        self.shape = shape
        self.abandon = abandon
        self.status_code = 200
        self.background = None
        self.init_headers({"Cache-Control": "no-cache"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            cut = self.shape.answer.cut.wait()
            await unless(self.sent(send), gone(receive), cut)
        finally:
            self.abandon()

    async def sent(self, send: Callable[[Any], Awaitable[None]]) -> None:
        """Send what comes, as it comes."""
        head = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **head})
        body = {"type": "http.response.body"}
        async for event in self.shape.events():
            await send({**body, "body": event, "more_body": True})
        await send({**body, "body": b"", "more_body": False})

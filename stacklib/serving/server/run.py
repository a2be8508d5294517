"""Serve a model until a signal comes."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from stacklib.serving.engine.engine import Engine
from stacklib.serving.pools.exchange import Writer

from .app import application
from .peer import Peer
from .shadow import Shadow
from .worker import Worker

BACKLOG = 1024  # connections that may wait to be accepted
GRACE = 3  # seconds that answers have to end in when the server ends


def bound(host: str, port: int, expose: bool) -> socket.socket:
    """A listening socket.

    ``ValueError`` for a port that is taken, and for an address that others reach
    unless ``expose`` says that they may.
    """
    if not expose and not is_loopback(host):
        raise ValueError(
            f"--host {host}: others can reach it, and nobody asks them who they are; "
            "add --expose if that is meant"
        )
    if not 0 <= port < 2**16:
        raise ValueError(f"--port {port}: from 0 (any that is free) to {2**16 - 1}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as why:
        raise ValueError(f"--host {host} --port {port}: {why.strerror}") from None


def peer_at(where: str, engine: Writer, expose: bool) -> Peer:
    """The peer at ``HOST:PORT``, looked at once.

    ``ValueError`` where it is not there, is of another model or has other blocks, and
    where it is not this machine's, unless ``expose`` says that this is meant.
    """
    host, _, port = where.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise ValueError(f"--peer {where}: HOST:PORT of a server with --role prefill")
    if not expose and not is_loopback(host.strip("[]")):
        raise ValueError(
            f"--peer {where}: prompts leave this machine as they are; add --expose if "
            "that is meant"
        )
    found = Peer(host.strip("[]"), int(port), engine.head)
    found.check()
    return found


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own, by what is written."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    engine: Engine,
    held: socket.socket,
    most: int,
    said: Callable[[str], None],
    ready: Callable[[], None],
    peer: Peer | None = None,
    beside: Callable[[Worker], Shadow] | None = None,
) -> None:
    """Serve on a socket until SIGINT or SIGTERM; ``ready`` is called when it does.

    - ``most``: answers alive at a time.
    - ``said``: is told in a sentence what went wrong.
    - ``peer``: who reads prompts for this one
    - ``beside``: makes the simulator that answers the same requests
    """

    async def run() -> None:
        worker = Worker(engine, most, said)
        shadow = None if beside is None else beside(worker)
        config = uvicorn.Config(
            application(worker, peer, shadow),
            lifespan="off",
            ws="none",
            access_log=False,
            log_level="critical",
            backlog=BACKLOG,
            timeout_graceful_shutdown=GRACE,
        )
        try:
            await Server(config, ready).serve(sockets=[held])
        finally:
            await asyncio.to_thread(worker.close)
            if shadow is not None:
                await asyncio.to_thread(shadow.close)

    asyncio.run(run())


class Server(uvicorn.Server):
    """Ends on a signal with status 0, where uvicorn's would hand the signal on."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so: from here on a signal ends the server well."""
        await super().startup(sockets)
        self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ask the server to end on SIGINT and SIGTERM."""
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = {kind: signal.signal(kind, self.handle_exit) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

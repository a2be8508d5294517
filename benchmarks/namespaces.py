"""Two network namespaces and the link between them, for runs over real sockets.

A namespace has interfaces, addresses and counters of its own, as a machine of its own
would. Two of them are joined by a veth pair, whose rate `tc` sets. A delay needs the
kernel's `netem`; where it has none, a relay between two tun devices delays each packet
and spaces packets at the rate. All of it needs root; without it there is the loopback.
"""

import fcntl
import os
import selectors
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

NAMES = (f"wa{os.getpid()}", f"wb{os.getpid()}")  # an interface's is at most 15 long
ADDRESSES = ("10.99.0.1", "10.99.0.2")
TUNSETIFF, TUN = 0x400454CA, 0x1001  # from linux/if_tun.h: a tun device, no header


@dataclass(frozen=True)
class Wire:
    """What joins the two: bits a second and seconds, none where they are not set."""

    rate: float | None = None
    delay: float | None = None


def _do(words: str) -> bool:
    return subprocess.run(words.split(), capture_output=True).returncode == 0


def permitted() -> bool:
    """Whether namespaces may be made here."""
    made = _do(f"ip netns add {NAMES[0]}")
    _do(f"ip netns del {NAMES[0]}")
    return made


@contextmanager
def private() -> Iterator[list[str]]:
    """Words before a command that run it where only our own traffic is counted."""
    name = NAMES[0]
    if not _do(f"ip netns add {name}"):
        yield []
        return
    try:
        _do(f"ip -n {name} link set lo up")
        yield ["ip", "netns", "exec", name]
    finally:
        _do(f"ip netns del {name}")


@contextmanager
def joined(wire: Wire) -> Iterator[tuple[str, str]]:
    """Both namespaces, the link up: how it was made, and its interface."""
    a, b = NAMES
    relay = None
    try:
        for name in NAMES:
            if not _do(f"ip netns add {name}"):
                raise SystemExit("refused: root is needed to make a network namespace")
            _do(f"ip -n {name} link set lo up")
        _do(f"ip link add wire netns {a} type veth peer name wire netns {b}")
        _up("wire")
        how = "veth"
        if wire.rate or wire.delay:
            how = _shaped(wire)
        if how == "relay":
            _do(f"ip -n {a} link del wire")
            ends = [os.open("/dev/net/tun", os.O_RDWR) for _ in NAMES]
            for name, end in zip(NAMES, ends, strict=True):
                fcntl.ioctl(
                    end, TUNSETIFF, struct.pack("16sH", name[:15].encode(), TUN)
                )
                _do(f"ip link set {name[:15]} netns {name} name wire")
            _up("wire")
            relay = _start_relay(ends, wire)
        yield how, "wire"
    finally:
        if relay:
            relay.kill()
            relay.wait()
        for name in NAMES:
            _do(f"ip netns del {name}")


def _up(interface: str) -> None:
    for name, address in zip(NAMES, ADDRESSES, strict=True):
        _do(f"ip -n {name} addr add {address}/24 dev {interface}")
        _do(f"ip -n {name} link set {interface} up")


def _shaped(wire: Wire) -> str:
    """Rate and delay by tc; what cannot be set there is left to the relay."""
    rate = f"rate {wire.rate:.0f}bit" if wire.rate else ""
    netem = f"delay {(wire.delay or 0) * 1e6:.0f}us {rate}"
    # Of tokens that are saved up a message passes at once: as few as a packet needs.
    bucket = f"tbf {rate} burst 4kb latency 200ms"
    discipline = bucket if not wire.delay else f"netem {netem} limit 100000"
    add = "qdisc add dev wire root"
    done = all(_do(f"tc -n {name} {add} {discipline}") for name in NAMES)
    return f"veth, tc {discipline.split()[0]}" if done else "relay"


def _start_relay(ends: list[int], wire: Wire) -> Any:
    for end in ends:
        os.set_inheritable(end, True)
    words = [str(end) for end in ends]
    words += [str(wire.rate or 0), str(wire.delay or 0)]
    command = [sys.executable, __file__, *words]
    return subprocess.Popen(command, pass_fds=ends)


def relay(ends: list[int], rate: float, delay: float) -> None:
    """Hand packets on, each after the one before has left and the delay has passed."""
    waiting: list[deque[tuple[float, bytes]]] = [deque(), deque()]
    free = [0.0, 0.0]
    looks = selectors.DefaultSelector()
    for side, end in enumerate(ends):
        os.set_blocking(end, False)
        looks.register(end, selectors.EVENT_READ, side)
    while True:
        due = min((line[0][0] for line in waiting if line), default=None)
        pause = None if due is None else max(0.0, due - time.monotonic())
        for key, _ in looks.select(pause):
            try:
                packet = os.read(key.fd, 65536)
            except OSError:
                continue
            now = time.monotonic()
            sent = max(now, free[key.data])
            free[key.data] = sent + (len(packet) * 8 / rate if rate else 0.0)
            waiting[key.data].append((free[key.data] + delay, packet))
        for side, line in enumerate(waiting):
            while line and line[0][0] <= time.monotonic():
                try:
                    os.write(ends[1 - side], line[0][1])
                except BlockingIOError:
                    break
                except OSError:
                    pass  # the other end is not up yet
                line.popleft()


if __name__ == "__main__":
    relay([int(x) for x in sys.argv[1:3]], float(sys.argv[3]), float(sys.argv[4]))

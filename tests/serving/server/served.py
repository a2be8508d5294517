"""A server of the command in a process of its own, and one request to it."""

import http.client
import json
import signal
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def server(flags):
    """Its process, and host and port; it is ended by its id, and ends well."""
    words = [sys.executable, "-m", "stacklib", "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*words, *flags.split()], stdout=subprocess.PIPE, text=True
    )
    try:
        told = json.loads(process.stdout.readline())
        yield process, (told["host"], told["port"])
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stdout.close()


def asked(address, method, path, body=None):
    """Status, headers and body of an answer."""
    link = http.client.HTTPConnection(*address, timeout=60)
    try:
        link.request(method, path, body)
        answer = link.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        link.close()

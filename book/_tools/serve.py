"""Serve a folder on loopback and open it in the reader's browser."""

from __future__ import annotations

import functools
import http.server
import sys
import webbrowser


def main(folder: str) -> int:
    """Serve until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        print(f"serving {folder} at {url}  (Ctrl-C stops)")
        webbrowser.open(url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))

"""Serve a folder on loopback, compressed, and open it in the reader's browser."""

import functools
import gzip
import http.server
import io
import sys
import webbrowser
from pathlib import Path
from typing import BinaryIO

# What shrinks; a font and an archive are compressed already.
SHRINKS = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".py", ".txt", ".wasm"}


@functools.lru_cache(maxsize=256)
def squeezed(path: Path, changed: float) -> bytes:
    """The file, gzipped; once for each time of its last change."""
    return gzip.compress(path.read_bytes(), 6, mtime=0)


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files as they are, or gzipped where the browser takes that; connections stay."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> BinaryIO | io.BytesIO | None:
        """The headers; the body to send after them."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if self.path.endswith("/") else path
        takes = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (takes and path.suffix in SHRINKS and path.is_file()):
            return super().send_head()
        body = squeezed(path, path.stat().st_mtime)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Vary", "Accept-Encoding")
        self.end_headers()
        return io.BytesIO(body)


def main(folder: str) -> int:
    """Serve until Ctrl-C."""
    handler = functools.partial(Handler, directory=folder)
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

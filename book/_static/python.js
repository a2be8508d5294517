// The one Python of a page, started on first use and shared by all that need it.
//   await st.python.call("module:function", {batch: 4})  -> {value} or {error}
//   await st.python.run("print(1)")                      -> {output, error}
//   st.python.watch(text => ...)                         -> status while it starts
//   st.python.stop()                                     -> ends a running program
"use strict";
window.st = window.st || {};

(() => {
  const root = document.documentElement.dataset.content_root || "./";
  const base = new URL(root + "_static/", location.href);
  const watchers = new Set();
  let worker = null;
  let started = null; // promise of a ready worker
  let abandon = () => {}; // rejects that promise
  let waiting = new Map(); // id -> [resolve, reject]
  let last = 0;

  const tell = (text) => watchers.forEach((watcher) => watcher(text));

  function end(reason) {
    if (worker) worker.terminate();
    abandon(new Error(reason));
    waiting.forEach(([, reject]) => reject(new Error(reason)));
    tell("");
    [worker, started, waiting] = [null, null, new Map()];
  }

  // The line that serves a book opened from files, wherever it was unpacked.
  function serving() {
    const windows = /^\/[A-Za-z]:\//;
    const folder = decodeURIComponent(new URL(root, location.href).pathname);
    const path = windows.test(folder) ? folder.slice(1) : folder;
    const program = windows.test(folder) ? "py" : "python3";
    return `${program} -m http.server --bind 127.0.0.1 --directory "${path}" 8000`;
  }

  function start() {
    if (location.protocol === "file:") {
      const page = location.pathname.slice(new URL(root, location.href).pathname.length);
      return Promise.reject(new Error(
        "A browser does not let a page opened from a file load Python. " +
        `In a terminal, type\n${serving()}\nand open http://127.0.0.1:8000/${page}`));
    }
    started = started || new Promise((resolve, reject) => {
      const fail = (reason) => {
        end(`Python could not start: ${reason}. Reload the page to try again.`);
      };
      abandon = reject;
      worker = new Worker(new URL("python-worker.mjs", base), { type: "module" });
      worker.onerror = (event) => fail(event.message || "its files did not load");
      worker.onmessage = ({ data }) => {
        if (data.status) tell(data.status);
        else if (data.ready) { tell(""); resolve(); }
        else if (data.failed) fail(data.failed);
        else {
          const [settle] = waiting.get(data.id) || [];
          waiting.delete(data.id);
          if (settle) settle(data.answer);
        }
      };
    });
    return started;
  }

  async function ask(what, args) {
    await start();
    last += 1;
    const id = last;
    return new Promise((resolve, reject) => {
      waiting.set(id, [resolve, reject]);
      worker.postMessage({ id, what, arguments: args });
    });
  }

  st.python = {
    start,
    call: (target, values) => ask("call", [target, JSON.stringify(values)]),
    run: (code) => ask("run", [code]),
    stop: () => end("Stopped."),
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
})();

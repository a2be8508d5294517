// Python beside the page: a worker, so that a long program never freezes the page
// and can be stopped. Its address is in _static; everything it loads is below it.

const base = new URL("./", import.meta.url);
const say = (text) => postMessage({ status: text });

const fail = (error) => postMessage({ failed: String(error.message || error) });

// Pyodide can wait for ever when a file does not arrive, so while Python starts
// every fetch tells of its own failure.
const plainFetch = self.fetch.bind(self);
self.fetch = async (...request) => {
  try {
    const response = await plainFetch(...request);
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
    return response;
  } catch (error) {
    fail(error);
    throw error;
  }
};
const fetched = (path, options) => fetch(new URL(path, base), options);

async function boot() {
  say("Loading Python (once, about 13 MB)");
  const { loadPyodide } = await import(new URL("vendor/pyodide/pyodide.mjs", base));
  const python = await loadPyodide({ indexURL: new URL("vendor/pyodide/", base).href });
  say("Loading stacklib");
  const index = await (await fetched("vendor/wheels/index.json", { cache: "no-cache" })).json();
  const archive = await fetched(`vendor/wheels/${index.stacklib}`);
  python.unpackArchive(await archive.arrayBuffer(), "zip");
  const harness = await (await fetched("harness.py", { cache: "no-cache" })).text();
  python.runPython(harness);
  return { call: python.globals.get("call"), run: python.globals.get("run") };
}

addEventListener("unhandledrejection", ({ reason }) => fail(reason));

const booted = boot();
booted.then(() => {
  self.fetch = plainFetch; // a reader's program may fail to fetch and go on
  postMessage({ ready: true });
}, fail);

onmessage = async ({ data }) => {
  const python = await booted;
  postMessage({ id: data.id, answer: JSON.parse(python[data.what](...data.arguments)) });
};

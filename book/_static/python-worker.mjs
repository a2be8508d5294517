// Python beside the page: a worker, so that a long program never freezes the page
// and can be stopped. Its address is in _static; everything it loads is below it.

const base = new URL("./", import.meta.url);
const say = (text) => postMessage({ status: text });

async function fetched(path, options) {
  const response = await fetch(new URL(path, base), options);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response;
}

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

const fail = (error) => postMessage({ failed: String(error.message || error) });
// Pyodide never settles when its wasm does not arrive; the error escapes to here.
addEventListener("unhandledrejection", ({ reason }) => fail(reason));

const booted = boot();
booted.then(() => postMessage({ ready: true }), fail);

onmessage = async ({ data }) => {
  const python = await booted;
  postMessage({ id: data.id, answer: JSON.parse(python[data.what](...data.arguments)) });
};

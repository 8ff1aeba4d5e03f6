// The model: WebAssembly in this page for steps, and in a worker for searches, so that
// the page answers while one goes on.
const Engine = (() => {
  const text = id => document.getElementById(id)?.textContent.trim() ?? "";

  async function unpack(id) {
    const packed = Uint8Array.from(atob(text(id)), c => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  let module;
  let worker = null;

  async function start() {
    module = await WebAssembly.compile(await unpack("wasm"));
    const go = new Go();
    const ready = new Promise(resolve => { globalThis.dmebenchReady = resolve; });
    go.run(await WebAssembly.instantiate(module, go.importObject));
    await ready;
  }

  // Garbage is collected now and then while nothing else goes on, and so not in the midst of a call.
  let calls = 0;

  function call(request) {
    if (++calls % 8 === 0) (globalThis.requestIdleCallback ?? setTimeout)(() => globalThis.dmebenchCollect());
    const answer = JSON.parse(globalThis.dmebench(JSON.stringify(request)));
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  // What runs in the worker, after the runtime of Go.
  const inWorker = `
    let open = null;
    onmessage = async ({data}) => {
      if (data.module) {
        const go = new Go();
        const ready = new Promise(resolve => { globalThis.dmebenchReady = resolve; });
        go.run(await WebAssembly.instantiate(data.module, go.importObject));
        await ready;
        return;
      }
      await 0;
      const progress = done => postMessage({progress: done});
      let answer;
      for (const request of data.requests) answer = dmebench(JSON.stringify(request), progress);
      postMessage({answer});
    };
    const receive = onmessage;
    let turn = Promise.resolve();
    onmessage = event => { turn = turn.then(() => receive(event)); };`;

  // search carries out requests one after the other, elsewhere, and resolves to the answer
  // to the last. stop gives it up.
  function search(requests, onProgress) {
    stop();
    const source = new Blob([text("go-runtime"), "\n", inWorker], { type: "text/javascript" });
    const url = URL.createObjectURL(source);
    const mine = worker = new Worker(url);
    URL.revokeObjectURL(url);
    return new Promise((resolve, reject) => {
      mine.given = reject;
      mine.onerror = e => { stop(); reject(new Error(e.message || "the search failed")); };
      mine.onmessage = ({ data }) => {
        if (data.progress !== undefined) { onProgress?.(data.progress); return; }
        mine.given = null;
        stop();
        const answer = JSON.parse(data.answer);
        answer.error ? reject(new Error(answer.error)) : resolve(answer);
      };
      mine.postMessage({ module });
      mine.postMessage({ requests });
    });
  }

  function stop() {
    worker?.given?.(new Error("the search was ended"));
    worker?.terminate();
    worker = null;
  }

  return { start, call, search, stop, unpack };
})();

// How a model comes into a page, and who hands it messages.
globalThis.nlp104web ??= {};
nlp104web.loading ??= (() => {
  "use strict";
  const { make } = nlp104elements;
  // The scripts of a folder, one after the other: engine and model, as text. `file://` permits no
  // fetch.
  async function fetchParts(folder, count, arrived, stopped) {
    for (let part = 0; part < count; part++) {
      await new Promise((done, fail) => {
        const script = make("script", {
          src: `${folder}${part}.js`,
          onload: done,
          onerror: () => fail(new Error(`Part ${part + 1} of ${count} did not arrive.`)),
        });
        document.head.append(script);
      });
      if (stopped()) return null;
      arrived(part + 1);
    }
    const [engine, ...model] = nlp104web.parts[folder.match(/([^/]+)\/$/)[1]];
    return { engine, model: model.join("") };
  }
  // Hands messages to the engine and back. Where a page may have no worker, it runs in the page
  // itself.
  function connect({ engine, model }, heard) {
    let port;
    const here = () => {
      if (!nlp104web.inline) document.head.append(make("script", { textContent: engine }));
      port = nlp104web.inline(model);
      port.onmessage = heard;
    };
    try {
      port = new Worker(URL.createObjectURL(new Blob([engine], { type: "text/javascript" })));
      port.onerror = here;
      port.onmessage = (event) => {
        port.onerror = null; // it runs
        heard(event);
      };
      port.postMessage({ kind: "load", model });
    } catch {
      here();
    }
    return { send: (message) => port.postMessage(message) };
  }

  return { fetchParts, connect };
})();

// The invitation to load the model, and what is said while it comes.
globalThis.nlp104web ??= {};
nlp104web.invite ??= (() => {
  "use strict";
  const { make } = nlp104elements;
  const { button, quiet } = nlp104web.frame;
  const { fetchParts } = nlp104web.loading;
  const MISSING =
    "Is the connection up? A copy of the book on a disk needs its folder _models, too.";

  // Offers to load the model, after a failure with what went wrong.
  const propose = (translator, problem = "") => {
    const { root, data, parts } = translator;
    const { model, size } = root.dataset;
    translator.complain(problem);
    if (!model) {
      parts.invite.replaceChildren(quiet(data.elsewhere));
      return;
    }
    const first = `Type your own: load the model${size ? ` (${size})` : ""}`;
    parts.invite.replaceChildren(
      button(problem ? "Try again" : first, () => load(translator), { className: "main" }),
      quiet("Nothing you type is sent anywhere."),
    );
  };

  const load = async (translator) => {
    const { model, size, parts } = translator.root.dataset;
    const count = Number(parts);
    const label = { "aria-label": "Loading the model" };
    const meter = make("progress", { max: count, value: 0, data: label });
    const note = quiet(`Loading ${size} …`);
    let stopped = false;
    const stop = () => {
      stopped = true;
      propose(translator);
    };
    const arrived = (number) => {
      meter.value = number;
      note.textContent = `Loading ${size}: ${number} of ${count} parts`;
    };
    translator.complain("");
    translator.parts.invite.replaceChildren(meter, button("Stop", stop), note);
    try {
      const texts = await fetchParts(model, count, arrived, () => stopped);
      if (texts) translator.begin(texts);
    } catch ({ message }) {
      if (!stopped) propose(translator, `${message} ${MISSING}`);
    }
  };

  return { propose };
})();

// What the engine says, and what the translator on the page makes of it.
globalThis.nlp104web ??= {};
nlp104web.answers ??= (() => {
  "use strict";
  const { asRun } = nlp104web.view;

  return {
    loaded(page, { config }) {
      const { examples } = page.data;
      const { invite, ask, choice, spoken, field, from } = page.parts;
      page.config = config;
      invite.replaceChildren();
      invite.hidden = true;
      ask.hidden = choice.hidden = false;
      spoken.textContent = `The model is here: type a sentence${from}.`;
      if (page.run) field.focus({ preventScroll: true });
      else {
        page.look.layer = config.layers - 1;
        if (field.value || examples.length) page.pick(field.value || examples[0]);
      }
      page.show();
    },

    source({ run }, { tokens }) {
      run.source = tokens;
    },

    step({ run }, { words, token, attention }) {
      if (run.beams > 1) return; // the best beginning may be another one each time
      run.target.push(token);
      run.words.push(words);
      run.cross.push(attention.cross);
    },

    done(page, message) {
      Object.assign(page.run, asRun(message));
      if (page.off.size) page.compare();
      else page.whole = page.run;
      page.parts.spoken.textContent = `Translation: ${page.run.translation}`;
      if (page.calm) page.reached = page.step = page.last;
    },

    refused(page, { message }) {
      page.run = page.whole;
      page.complain(message);
      page.pause(false);
      page.step = page.reached = page.last;
    },
  };
})();

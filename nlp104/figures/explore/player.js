// Explorables, second half: the frame around a scene, the player, the keys, the address.
//
// A scene's file calls nlp104.scene(name, (data, nlp104) => ({
//   lead,                        one sentence: what to do
//   start, keep,                 the first state; what a reset keeps of it
//   chapters,                    one name for each step; neighbours with one name are one chapter
//   options: [{name, label, values: [[value, text], …], when(state, width)}],
//   equation, lit(state),        HTML with data-term="…"; the terms that are lit
//   draw(state, width) → {marks, height, caption, table: {caption, rows, columns, values}, focus},
//   press(state, action), move(state, step), option(state, name, value),
//   slide(state, action, value)  change the state; the last where a mark is pulled that has
//                                slide: {value, low, high, by, length}, in pixels, upwards
// }))
nlp104.scene ??= (() => {
  "use strict";
  const { tidy, range, fit, overlap, svg, set, rich, plain, write, Stage } = nlp104;
  const make = (tag, properties = {}, ...children) => {
    const { data, ...rest } = properties, element = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(data ?? {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const ICONS = {
    reset: '<path d="M4 12a8 8 0 1 0 2.6-5.9"/><path d="M3.5 3.5v4.6h4.6"/>', back: '<path d="M14.5 6 8.5 12l6 6"/>', next: '<path d="m9.5 6 6 6-6 6"/>',
    play: '<path class="full" d="M8 5.5v13l10.5-6.5z"/>', pause: '<path d="M9 6.5v11M15 6.5v11" stroke-width="3.5"/>',
  };
  const icon = (name) => `<svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">${ICONS[name]}</svg>`;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const copies = {}; // how many figures of a name the page has
  const limit = (x, low, high) => Math.max(low, Math.min(high, x));

  function mount(root, name, build) {
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    const scene = build(data, nlp104), steps = scene.chapters.length, options = scene.options ?? [];
    copies[name] = (copies[name] ?? 0) + 1;
    const address = copies[name] > 1 ? `${name}-${copies[name]}` : name;
    const start = { step: 0, ...scene.start }, state = { ...start };
    root.querySelector(".instead").hidden = true;
    // ----- the frame -----
    const tools = make("div", { className: "tools" });
    for (const { name: option, label, values } of options)
      tools.append(make("fieldset", { data: { "data-option": option } }, make("legend", {}, label), make("div", { className: "choice" }, ...values.map(([value, text]) =>
        make("label", {}, make("input", {
          type: "radio", name: `${address}-${option}`, value: String(value),
          onchange() {
            pause();
            state[option] = value;
            scene.option?.(state, option, value);
            show({ texts: true });
          },
        }), make("span", { innerHTML: rich(text) }))))));
    const equation = scene.equation && make("div", { className: "equation", innerHTML: scene.equation, data: { role: "img" } });
    const drawing = svg("svg", { role: "presentation" });
    const stage = make("div", { className: "stage", tabIndex: 0, data: { role: "group", "aria-roledescription": "figure in steps", "aria-label": `${data.title}. Arrow keys: step by step. Space: play. Tab: to what can be pressed.` } }, drawing);
    const caption = make("figcaption", { data: { "aria-live": "polite", "aria-atomic": "true" } });
    const button = (kind, label, onclick) => make("button", { type: "button", title: label, innerHTML: icon(kind), onclick, data: { "aria-label": label } });
    const back = button("back", "One step back", () => go(state.step - 1)), next = button("next", "One step on", () => go(state.step + 1));
    const reset = button("reset", "Start again", () => {
      const kept = Object.fromEntries((scene.keep ?? []).map((key) => [key, state[key]]));
      Object.assign(state, scene.start, kept);
      if (width) reserve();
      go(0);
    });
    const player = make("button", { type: "button", className: "play", onclick: () => (playing ? pause() : play()) });
    const slider = make("input", { type: "range", min: 0, max: steps - 1, step: 1, oninput: () => go(Number(slider.value)), data: { "aria-label": "Step" } });
    const titles = make("div", { className: "chapters" }), count = make("div", { className: "count", data: { "aria-hidden": "true" } });
    const at = (step) => `calc(10px + (100% - 20px) * ${step / Math.max(1, steps - 1)})`;
    const chapters = [];
    scene.chapters.forEach((title, step) => {
      if (chapters.at(-1)?.title === title) chapters.at(-1).end = step;
      else chapters.push({ title, start: step, end: step });
    });
    for (const chapter of chapters) {
      chapter.button = make("button", { type: "button", tabIndex: -1, innerHTML: rich(chapter.title), onclick: () => go(chapter.start) });
      titles.append(chapter.button);
    }
    const table = make("table");
    const bar = make("div", { className: "bar", hidden: steps < 2 }, make("div", { className: "buttons" }, reset, back, player, next), make("div", { className: "track" }, slider, titles), count);
    root.append(
      make("div", { className: "head" }, make("div", {}, make("p", { className: "title" }, data.title), make("p", { className: "lead", innerHTML: rich(scene.lead) })), tools),
      ...(equation ? [equation] : []), stage, caption, bar, make("div", { className: "unseen" }, table),
    );
    const picture = new Stage(drawing);
    // ----- one state -----
    let width = 0, playing = false, timer = 0, named = 0, room = 0, tall = 0, reserved = "", follow = true;
    function show({ still = calm.matches, write: note = true, texts = false } = {}) {
      if (!width) return;
      if (texts) reserve(); // there may be others now
      const { marks, height, caption: words, table: numbers, focus } = scene.draw(state, width);
      set(drawing, { width, height: Math.ceil(height), viewBox: `0 0 ${width} ${Math.ceil(height)}` });
      picture.draw(marks, still);
      const html = rich(words);
      if (caption.dataset.html !== html) caption.innerHTML = caption.dataset.html = html;
      caption.setAttribute("aria-live", playing ? "off" : "polite");
      for (const { name: option, when } of options) {
        const choice = tools.querySelector(`[data-option="${option}"]`);
        choice.hidden = Boolean(when) && !when(state, width);
        for (const input of choice.querySelectorAll("input")) input.checked = input.value === String(state[option]);
      }
      if (equation) {
        const lit = scene.lit(state);
        equation.querySelectorAll("[data-term]").forEach((term) => term.classList.toggle("lit", term.dataset.term.split(" ").some((t) => lit.includes(t))));
        equation.setAttribute("aria-label", `${scene.spoken}. Now: ${plain(scene.chapters[state.step])}`);
      }
      slider.value = state.step;
      slider.style.setProperty("--done", at(state.step));
      slider.setAttribute("aria-valuetext", `${state.step + 1} of ${steps}: ${plain(words)}`);
      count.textContent = `${state.step + 1} / ${steps}`;
      nameChapters();
      back.disabled = state.step === 0;
      next.disabled = state.step === steps - 1;
      player.innerHTML = playing ? `${icon("pause")}Pause` : `${icon("play")}Play`;
      if (numbers && !playing) table.replaceChildren(...tabulate(numbers));
      Object.assign(root.dataset, { step: state.step, state: JSON.stringify(state) });
      if (note && !playing) remember();
      return focus;
    }
    const tabulate = ({ caption: title, rows, columns, values }) => [
      make("caption", {}, plain(title)), make("tr", {}, make("td"), ...columns.map((column) => make("th", { scope: "col" }, column))),
      ...values.map((row, i) => make("tr", {}, make("th", { scope: "row" }, rows[i]), ...row.map((x) => make("td", {}, x === null ? "hidden" : write(x))))),
    ];

    // The caption has the height of the longest one, or the buttons below it would move from step to step.
    function reserve() {
      const asked = `${width} ${JSON.stringify({ ...state, step: 0 })}`;
      if (steps < 2 || asked === reserved) return;
      reserved = asked;
      const states = [state, ...range(steps).map((step) => ({ ...state, step }))];
      for (const other of states.slice(1)) scene.move?.(other, other.step);
      const texts = states.map((other) => rich(scene.draw(other, width).caption));
      const lines = [...new Set(texts)].map((innerHTML) => make("div", { innerHTML })), wide = caption.getBoundingClientRect().width;
      const probe = root.appendChild(make("figcaption", { style: `position: absolute; visibility: hidden; width: ${wide}px` }, ...lines));
      tall = Math.max(tall, ...lines.map((line) => Math.ceil(line.getBoundingClientRect().height))); // a switch never makes it lower
      probe.remove();
      caption.style.minHeight = `${tall}px`;
    }
    // ----- steps -----
    function go(step, { keep = false } = {}) {
      if (!keep) follow = true, pause(false);
      state.step = limit(step, 0, steps - 1);
      scene.move?.(state, state.step);
      const focus = show();
      if (follow) bring(focus);
    }
    // On a phone what a step is about, or all that fits a screen, comes out from behind the caption or from above the screen.
    function bring(focus) {
      const end = (element, side) => element.getBoundingClientRect()[side], roof = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0, floor = innerHeight - caption.offsetHeight - bar.offsetHeight - 12;
      const [from, to] = focus?.map((y) => end(stage, "top") + y) ?? [end(equation || stage, "top"), end(stage, "bottom")];
      const below = to - floor, above = from - roof, by = Math.min(Math.max(0, below), above);
      if (by && width < 560 && (focus || to - from <= floor - roof)) scrollBy({ top: by, behavior: calm.matches ? "auto" : "smooth" });
    }
    function play() {
      if (state.step === steps - 1) go(0);
      playing = follow = true;
      show();
      const onward = () => {
        if (state.step >= steps - 1) return pause();
        go(state.step + 1, { keep: true });
        timer = setTimeout(onward, scene.pause?.(state) ?? 2400);
      };
      timer = setTimeout(onward, 500);
    }
    function pause(redraw = true) {
      clearTimeout(timer);
      if (!playing) return;
      playing = false;
      if (redraw) show();
    }
    function press(element) {
      pause(false);
      scene.press(state, element.dataset.act.split(":"));
      show({ texts: true });
    }
    function pull(element, value) {
      pause(false);
      const { low, high, by } = picture.slider(element);
      scene.slide(state, element.dataset.act.split(":"), limit(tidy(Math.round(value / by) * by), low, high));
    }
    // ----- hands and keys -----
    drawing.addEventListener("pointerdown", (event) => {
      const held = event.target.closest('[role="slider"]');
      if (!held || event.button) return;
      const { value, low, high, length } = picture.slider(held);
      drawing.setPointerCapture(event.pointerId);
      press(held);
      drawing.onpointermove = ({ clientY }) => {
        pull(held, value + ((event.clientY - clientY) / length) * (high - low));
        show({ still: true, write: false });
      };
      drawing.onlostpointercapture = () => {
        drawing.onpointermove = drawing.onlostpointercapture = null;
        show();
      };
    });
    // A finger that pulls does not scroll; touch-action would say so, but not within an SVG element.
    drawing.addEventListener("touchstart", (event) => event.target.closest('[role="slider"]') && event.preventDefault(), { passive: false });
    drawing.addEventListener("click", ({ target }) => {
      const pressed = target.closest("[data-act]");
      if (pressed) press(pressed);
    });
    stage.addEventListener("keydown", (event) => {
      const { key, target } = event, on = target.closest("[data-act]");
      const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[key];
      const done = () => event.preventDefault();
      const turn = on?.matches('[role="slider"]') && { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[key];
      if (turn) {
        const { value, by } = picture.slider(on);
        done(), pull(on, value + turn * by), show();
      } else if (on) {
        if (key === "Enter" || key === " ") done(), press(on);
        else if (key === "Escape") stage.focus();
        else if (way) {
          done();
          const [group, row, column] = on.dataset.at.split(":");
          const other = drawing.querySelector(`[data-at="${group}:${Number(row) + way[0]}:${Number(column) + way[1]}"]`);
          if (other) other.focus(), press(other);
        }
      } else if (key === "ArrowRight") done(), go(state.step + 1);
      else if (key === "ArrowLeft") done(), go(state.step - 1);
      else if (key === "Home") done(), go(0);
      else if (key === "End") done(), go(steps - 1);
      else if (key === " ") done(), player.click();
    });
    // ----- the address: #name:step=3&mask=both -----
    function remember() {
      const changed = Object.entries(state).filter(([key, value]) => value !== start[key] && value !== null);
      if (!changed.length && !location.hash.startsWith(`#${address}:`)) return;
      try {
        history.replaceState(null, "", `#${address}:${new URLSearchParams(changed)}`);
      } catch { /* a page inside another one may not */ }
    }
    function recall() {
      let query;
      try {
        [, query] = decodeURIComponent(location.hash).split(`#${address}:`);
      } catch { /* a % that means something else */ }
      if (query === undefined) return false;
      pause(false);
      Object.assign(state, start);
      for (const [key, value] of new URLSearchParams(query))
        if (key in state) state[key] = /^-?\d+$/.test(value) ? Number(value) : value === "true" ? true : value === "false" ? false : value;
      state.step = limit(Math.round(state.step) || 0, 0, steps - 1);
      for (const { name: option, values } of options)
        if (!values.some(([value]) => value === state[option])) state[option] = start[option];
      try {
        scene.draw(state, width || 700);
      } catch { // an address of another time, or mistyped
        Object.assign(state, start);
      }
      return true;
    }
    addEventListener("hashchange", () => recall() && show({ still: true, write: false, texts: true }));

    // Names below the track: the first and the last, then all that find room near their steps. The width alone
    // decides, so that none flickers; only the name of the step that is shown may take the place of others.
    function nameChapters() {
      const now = chapters.findLast(({ start: first }) => first <= state.step);
      if (named !== width) { // to ask for widths lays out the whole page
        [named, room] = [width, titles.clientWidth];
        for (const { button: name } of chapters) set(name, { class: "now", style: "" }); // as wide as it is in its turn
        for (const chapter of chapters) chapter.long = chapter.button.offsetWidth;
        const ends = [chapters[0], chapters.at(-1)], taken = [];
        for (const chapter of new Set([...ends, ...chapters])) {
          const middle = 10 + ((room - 20) * (chapter.start + chapter.end)) / 2 / Math.max(1, steps - 1);
          chapter.want = limit(middle - chapter.long / 2, 0, Math.max(0, room - chapter.long));
          chapter.left = fit(chapter, taken, room, 12);
          if (chapter.left !== undefined) taken.push(chapter);
        }
      }
      const others = chapters.filter((chapter) => chapter !== now && chapter.left !== undefined);
      const left = now.left ?? fit(now, others.filter((chapter) => [chapters[0], chapters.at(-1)].includes(chapter)), room, 60) ?? now.want;
      for (const chapter of chapters) {
        const seen = chapter === now || (others.includes(chapter) && !overlap({ ...now, left }, chapter));
        chapter.button.className = chapter === now ? "now" : seen ? "" : "tick";
        Object.assign(chapter.button.style, { left: `${chapter === now ? left : seen ? chapter.left : chapter.want}px`, width: `${chapter.long}px` });
      }
    }
    // ----- life on the page -----
    const measure = () => {
      const now = Math.floor(stage.clientWidth);
      if (!now || now === width) return;
      width = now;
      root.classList.toggle("slim", width < 560);
      tall = 0;
      show({ still: true, write: false, texts: true });
    };
    const here = recall();
    new ResizeObserver(measure).observe(stage);
    new IntersectionObserver(([entry]) => entry.isIntersecting || pause()).observe(root);
    new IntersectionObserver(([entry]) => root.classList.toggle("low", !entry.isIntersecting), { rootMargin: "0px 0px -50%" }).observe(stage);
    for (const moved of ["wheel", "touchmove"]) addEventListener(moved, () => (follow = false), { passive: true }); // while it plays, the page is the reader's
    measure();
    if (here) root.scrollIntoView();
  }

  return (name, build) => document.querySelectorAll(`.nlp104.explore[data-scene="${name}"]:not([data-step])`).forEach((root) => mount(root, name, build));
})();

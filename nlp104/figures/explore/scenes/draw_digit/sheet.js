// The sheet: a finger, a mouse or a keyboard draws on it; above the figure, what to begin with.
nlp104.share("draw_digit", ({ svg, set, limit, draw_digit: { codeOf, strokesOf } }) => {
  const { make } = nlp104elements;
  const NEAR = 0.008; // of the sheet: a new point is further from the last one
  const READ = 70; // milliseconds from one reading to the next, while the pen is down
  const STEP = 1 / 16; // of the sheet: an arrow key
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const SAYS =
    "Sheet to draw on. Arrow keys move the pen, Space sets it down and lifts it, Delete wipes.";

  class Sheet {
    constructor(choose, now) {
      this.choose = choose;
      this.now = now; // the code of what is shown
      this.strokes = []; // while the pen is down: all of them, the last one growing
      this.down = false;
      this.pen = [0.5, 0.2]; // of the keyboard
      this.line = svg("path", { fill: "none" });
      this.dot = svg("circle", { r: 0.03 });
      const picture = svg("svg", { viewBox: "0 0 1 1", "aria-hidden": true }, this.line, this.dot);
      this.element = make(
        "div",
        { className: "sheet", tabIndex: 0, data: { role: "application", "aria-label": SAYS } },
        picture,
      );
      const wipe = make("button", { type: "button", onclick: () => choose(".") }, "Wipe");
      this.pad = make("div", { className: "pad" }, this.element, wipe);
      this.element.addEventListener("pointerdown", (event) => this.press(event));
      this.element.addEventListener("keydown", (event) => this.key(event));
      this.element.addEventListener("blur", () => this.lift());
      this.move([0, 0]);
    }

    // ---------- the pen ----------
    start(point) {
      // An example makes room; one's own strokes stay.
      const code = this.now();
      this.strokes = code.startsWith(".") ? strokesOf(code) : [];
      this.strokes.push([point]);
      this.down = true;
      this.read();
    }

    add(point) {
      const stroke = this.strokes.at(-1);
      const [x, y] = stroke.at(-1);
      if (Math.hypot(point[0] - x, point[1] - y) < NEAR) return;
      stroke.push(point);
      set(this.line, { d: `M${stroke.join("L")}` });
      this.timer ??= setTimeout(() => this.read(), READ);
    }

    read() {
      clearTimeout(this.timer);
      this.timer = undefined;
      this.choose(codeOf(this.strokes));
    }

    lift() {
      if (!this.down) return;
      this.down = false;
      this.read();
      set(this.line, { d: null });
      this.element.classList.remove("down");
    }

    // ---------- a finger or a mouse ----------
    press(event) {
      if (event.button || this.down) return;
      const { element } = this;
      const box = element.getBoundingClientRect();
      const at = ({ clientX, clientY }) => [
        limit((clientX - box.left) / box.width, 0, 1),
        limit((clientY - box.top) / box.height, 0, 1),
      ];
      element.setPointerCapture(event.pointerId);
      this.start(at(event));
      element.onpointermove = (moved) => {
        const all = moved.getCoalescedEvents?.() ?? [];
        for (const one of all.length ? all : [moved]) this.add(at(one));
      };
      element.onlostpointercapture = () => {
        element.onpointermove = element.onlostpointercapture = null;
        this.lift();
      };
    }

    // ---------- a keyboard ----------
    key(event) {
      const { key } = event;
      const way = KEYS[key];
      if (way) this.move(way);
      else if (key === " " || key === "Enter") this.toggle();
      else if (key === "Delete" || key === "Backspace") this.choose(".");
      else if (key !== "Escape") return;
      if (key === "Escape") this.pad.parentNode.focus();
      event.preventDefault();
      event.stopPropagation(); // on the stage these keys go from step to step
    }

    move(way) {
      this.pen = this.pen.map((at, axis) => limit(at + STEP * way[axis], STEP, 1 - STEP));
      set(this.dot, { cx: this.pen[0], cy: this.pen[1] });
      if (this.down) this.add(this.pen);
    }

    toggle() {
      if (this.down) this.lift();
      else {
        this.start(this.pen);
        this.element.classList.add("down");
      }
    }
  }

  // The choice of examples, as an option of the player; the sheet lies on the stage.
  const field = (examples) => (choose) => {
    const shown = make("input", { type: "hidden" }); // the player writes there what is shown
    const sheet = new Sheet(choose, () => shown.value);
    const button = ({ name, title }) =>
      make(
        "label",
        {},
        make("input", {
          type: "radio",
          name: `digit-${document.querySelectorAll(".sheet").length}`,
          value: name,
          onchange: () => choose(name),
        }),
        make("span", {}, title),
      );
    const choice = make("div", { className: "choice" }, ...examples.map(button));
    const options = make("fieldset", { data: { "data-option": "ink" } });
    options.append(make("legend", {}, "Begin with"), choice, shown);
    queueMicrotask(() => options.closest(".explore").querySelector(".stage").append(sheet.pad));
    return options;
  };

  return { field };
});

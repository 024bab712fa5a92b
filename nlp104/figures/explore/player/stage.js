// Explorables: the stage. A scene hands over marks, each with a key. A known key glides to its new
// place, a new one appears, a missing one goes. So a scene is a pure function of its state, and
// going back costs nothing.
{
  const { range, svg, set, KINDS } = nlp104;

  class Stage {
    constructor(element) {
      this.svg = element;
      this.nodes = new Map();
      this.layers = range(3).map(() => element.appendChild(svg("g")));
    }

    draw(marks, still = false) {
      this.svg.classList.toggle("calm", still);
      const all = marks.flat(Infinity).filter(Boolean);
      const fresh = all.filter((mark) => this.take(mark));
      // What is new may fade in from here on, where it is.
      if (fresh.length && !still) this.svg.getBoundingClientRect();
      const keys = new Set(all.map(({ key }) => key));
      for (const [key, { group, pieces, mark }] of this.nodes) {
        if (!keys.has(key)) {
          this.nodes.delete(key);
          group.remove();
          continue;
        }
        this.place(group, mark);
        KINDS[mark.kind].update(pieces, mark);
        set(group, { opacity: mark.opacity });
      }
    }

    // Finds the mark's elements, or makes them; says whether they are new.
    take(mark) {
      const known = this.nodes.get(mark.key);
      const fresh = known?.mark.kind !== mark.kind; // another width may draw another kind here
      if (fresh) {
        known?.group.remove();
        this.make(mark);
      }
      const node = this.nodes.get(mark.key);
      const layer = this.layers[mark.layer];
      if (node.group.parentNode !== layer) layer.append(node.group);
      node.mark = mark;
      this.press(node.group, mark);
      return fresh;
    }

    make(mark) {
      const pieces = KINDS[mark.kind].make();
      const group = svg("g", { class: mark.kind, opacity: 0 }, ...pieces);
      this.nodes.set(mark.key, { pieces, group });
      // At its place and in its colours: only what is old changes them slowly.
      this.place(group, mark);
      KINDS[mark.kind].update(pieces, mark);
    }

    place(group, mark) {
      group.style.transform = `translate(${mark.x.toFixed(1)}px,${mark.y.toFixed(1)}px)`;
    }

    // What can be pressed is a button, what can be pulled a slider, also for a keyboard and a
    // screen reader.
    press(group, mark) {
      const { slide } = mark;
      const act = mark.act || null; // a scene may say "" of what cannot be pressed
      set(group, {
        "data-act": act,
        "data-at": act && mark.at,
        role: act && (slide ? "slider" : "button"),
        tabindex: act && (mark.first ? 0 : -1),
        "aria-label": act && mark.says,
        "aria-pressed": act && !slide ? Boolean(mark.pressed) : null,
        "aria-hidden": act ? null : true,
        "aria-valuenow": slide?.value,
        "aria-valuemin": slide?.low,
        "aria-valuemax": slide?.high,
        "aria-orientation": slide && "vertical",
      });
      this.reach(group, act && mark.hit, mark);
    }

    // Fingers are wider than a row: `hit` is the place that they may touch.
    reach(group, hit, { x, y }) {
      let rect = group.querySelector(".reach");
      if (!hit) {
        rect?.remove();
        return;
      }
      const unseen = { class: "reach", fill: "none", "pointer-events": "all" };
      rect ??= group.appendChild(svg("rect", unseen));
      set(rect, { x: hit.x - x, y: hit.y - y, width: hit.w, height: hit.h });
    }

    // What a mark that can be pulled holds: { value, low, high, by, length in pixels, upwards }.
    slider(group) {
      return [...this.nodes.values()].find((node) => node.group === group)?.mark.slide;
    }
  }

  Object.assign(nlp104, { Stage });
}

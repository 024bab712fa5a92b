// Explorables: the names of the chapters below the track. The first and the last stand there, then
// all that find room near their steps. The width and the last step alone decide, so that none
// flickers; only the name of the step that is shown may take the place of others.
{
  const { limit, fit, overlap, set, rich } = nlp104;
  const { make } = nlp104elements;

  class Chapters {
    // `names`: one for each step; neighbours with one name are one chapter.
    constructor(names, titles, go) {
      this.titles = titles;
      this.list = []; // of all steps
      this.shown = []; // of those that there are now
      this.width = 0;
      names.forEach((title, step) => {
        const last = this.list.at(-1);
        if (last?.title === title) last.end = step;
        else this.list.push({ title, start: step, end: step });
      });
      for (const chapter of this.list) {
        const innerHTML = rich(chapter.title);
        const onclick = () => go(chapter.start);
        chapter.button = make("button", { type: "button", tabIndex: -1, innerHTML, onclick });
        titles.append(chapter.button);
      }
    }

    show(step, last, width) {
      if (this.width !== width || this.last !== last) {
        Object.assign(this, { width, last });
        this.measure(); // to ask for widths lays out the whole page
      }
      const ends = [this.shown[0], this.shown.at(-1)];
      const now = this.shown.findLast(({ start }) => start <= step);
      const others = this.shown.filter((one) => one !== now && one.left !== undefined);
      const firm = others.filter((one) => ends.includes(one));
      const left = now.left ?? fit(now, firm, this.room, 60) ?? now.want;
      for (const chapter of this.shown) {
        const { button, long, want } = chapter;
        const free = others.includes(chapter) && !overlap({ ...now, left }, chapter);
        let [name, place] = free ? ["", chapter.left] : ["left-out", want];
        if (chapter === now) [name, place] = ["now", left];
        button.className = name;
        Object.assign(button.style, { left: `${place}px`, width: `${long}px` });
      }
    }

    // How long each name is, in the type of its turn, and where it finds room.
    measure() {
      this.room = this.titles.clientWidth;
      this.shown = this.list.filter(({ start }) => start <= this.last);
      for (const { button, start } of this.list) {
        set(button, { class: "now", style: "" });
        button.hidden = start > this.last;
      }
      for (const chapter of this.shown) chapter.long = chapter.button.offsetWidth;
      const taken = [];
      for (const chapter of new Set([this.shown[0], this.shown.at(-1), ...this.shown])) {
        const { start, end, long } = chapter;
        const part = (start + Math.min(end, this.last)) / 2 / Math.max(1, this.last);
        const middle = 10 + (this.room - 20) * part;
        chapter.want = limit(middle - long / 2, 0, Math.max(0, this.room - long));
        chapter.left = fit(chapter, taken, this.room, 12);
        if (chapter.left !== undefined) taken.push(chapter);
      }
    }
  }

  Object.assign(nlp104, { Chapters });
}

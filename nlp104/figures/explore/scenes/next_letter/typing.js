// Real keys: a letter that is typed anywhere in the figure presses the key that is drawn.
nlp104.share("next_letter", () => {
  const { make } = nlp104elements;
  const WAYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const HINT = "Letters and the space bar: guess. Arrow keys: step by step. Tab: to the keys.";
  const press = (mark) => mark?.dispatchEvent(new MouseEvent("click", { bubbles: true }));

  // On a drawn key arrows go to its neighbour, without pressing it: that would be a guess.
  function walk(root, mark, [down, right]) {
    const [, row, column] = mark.dataset.at.split(":").map(Number);
    root.querySelector(`[data-at="k:${row + down}:${column + right}"]`)?.focus();
  }

  function type(root, stage, event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const mark = target.closest('[data-at^="k:"]');
    const letter =
      key === " " ? target === stage && "_" : /^[a-z]$/i.test(key) && key.toLowerCase();
    if (mark && WAYS[key]) walk(root, mark, WAYS[key]);
    else if (letter) press(root.querySelector(`[data-act="guess:${letter}"]`));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // An element that is never seen: through it the scene gets to know its figure.
  function typing() {
    const unseen = make("span", { data: { "data-option": "tried" } });
    queueMicrotask(() => {
      const root = unseen.closest(".explore");
      const stage = root.querySelector(".stage");
      stage.setAttribute("aria-label", `${root.getAttribute("aria-label")}. ${HINT}`);
      root.addEventListener("keydown", (event) => type(root, stage, event), true);
      // Whoever clicks a key may go on typing.
      root.addEventListener("click", ({ target, detail }) => {
        if (detail && target.closest('[data-at^="k:"]')) stage.focus({ preventScroll: true });
      });
    });
    return unseen;
  }

  return { typing };
});

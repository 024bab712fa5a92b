// Explorables: what a hand or a key does on the stage.
{
  const SLIDER = '[role="slider"]';
  const WAYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const TURNS = {
    ArrowUp: 1,
    ArrowDown: -1,
    PageUp: 10,
    PageDown: -10,
    Home: -Infinity,
    End: Infinity,
  };

  // A finger or a mouse pulls a slider until it lets go.
  const pull = (player, event) => {
    const { drawing } = player.frame;
    const held = event.target.closest(SLIDER);
    if (!held || event.button) return;
    const { value, low, high, length } = player.picture.slider(held);
    drawing.setPointerCapture(event.pointerId);
    player.press(held);
    drawing.onpointermove = ({ clientY }) => {
      player.pull(held, value + ((event.clientY - clientY) / length) * (high - low));
      player.show({ still: true, write: false });
    };
    drawing.onlostpointercapture = () => {
      drawing.onpointermove = drawing.onlostpointercapture = null;
      player.show();
    };
  };

  // To the mark beside, as `data-at` says: group:row:column.
  const beside = (drawing, mark, [down, right]) => {
    const [group, row, column] = mark.dataset.at.split(":");
    const place = `${group}:${Number(row) + down}:${Number(column) + right}`;
    return drawing.querySelector(`[data-at="${place}"]`);
  };

  // The answers to keys, on a mark and on the stage; each says whether the key meant something.
  const onMark = (player, mark, key) => {
    const { drawing, stage } = player.frame;
    const turn = mark.matches(SLIDER) && TURNS[key];
    if (turn) {
      const { value, by } = player.picture.slider(mark);
      player.pull(mark, value + turn * by);
      player.show();
    } else if (key === "Enter" || key === " ") player.press(mark);
    else if (WAYS[key]) {
      const other = beside(drawing, mark, WAYS[key]);
      other?.focus();
      if (other) player.press(other);
    } else {
      if (key === "Escape") stage.focus();
      return false;
    }
    return true;
  };
  const onStage = (player, key) => {
    const { state, frame } = player;
    const steer = {
      ArrowRight: () => player.go(state.step + 1),
      ArrowLeft: () => player.go(state.step - 1),
      Home: () => player.go(0),
      End: () => player.go(player.last),
      " ": () => frame.play.click(),
    };
    steer[key]?.();
    return key in steer;
  };

  const listen = (player) => {
    const { drawing, stage } = player.frame;
    drawing.addEventListener("pointerdown", (event) => pull(player, event));
    // A finger that pulls does not scroll; touch-action would say so, but not within an SVG
    // element.
    const stay = (event) => event.target.closest(SLIDER) && event.preventDefault();
    drawing.addEventListener("touchstart", stay, { passive: false });
    drawing.addEventListener("click", ({ target }) => {
      const pressed = target.closest("[data-act]");
      if (pressed) player.press(pressed);
    });
    stage.addEventListener("keydown", (event) => {
      const mark = event.target.closest("[data-act]");
      const done = mark ? onMark(player, mark, event.key) : onStage(player, event.key);
      if (done) event.preventDefault();
    });
  };

  Object.assign(nlp104, { listen });
}

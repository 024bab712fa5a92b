// Explorables: the state of a figure in the address of the page, #name:step=3&mask=both.
{
  // Writes what differs from the start.
  const remember = ({ address, state, start }) => {
    const differs = ([key, value]) => value !== start[key] && value !== null;
    const changed = Object.entries(state).filter(differs);
    if (!changed.length && !location.hash.startsWith(`#${address}:`)) return;
    try {
      history.replaceState(null, "", `#${address}:${new URLSearchParams(changed)}`);
    } catch {
      // a page inside another one may not
    }
  };

  const TRUTHS = { true: true, false: false };
  const read = (text) => (/^-?\d+$/.test(text) ? Number(text) : (TRUTHS[text] ?? text));

  // The state that the address asks for, as texts by name; undefined if it is not this figure's.
  const asked = (address) => {
    try {
      const [, query] = decodeURIComponent(location.hash).split(`#${address}:`);
      return query === undefined ? undefined : [...new URLSearchParams(query)];
    } catch {
      return undefined; // a % that means something else
    }
  };

  // Takes the state from the address; says whether it was there.
  const recall = (player) => {
    const { address, scene, state, start, options, steps } = player;
    const found = asked(address);
    if (!found) return false;
    player.pause(false);
    Object.assign(state, start);
    for (const [key, text] of found) if (key in state) state[key] = read(text);
    state.step = nlp104.limit(Math.round(state.step) || 0, 0, steps - 1);
    for (const { name, values } of options)
      if (values?.every(([value]) => value !== state[name])) state[name] = start[name];
    try {
      scene.draw(state, player.width || 700);
    } catch {
      Object.assign(state, start); // an address of another time, or mistyped
    }
    return true;
  };

  Object.assign(nlp104, { remember, recall });
}

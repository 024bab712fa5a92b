// Elements of a page, for all that the package puts into one: explorables and the translator.
globalThis.nlp104elements ??= (() => {
  "use strict";
  const make = (tag, properties = {}, ...children) => {
    const { data, ...rest } = properties;
    const element = Object.assign(document.createElement(tag), rest);
    for (const [name, value] of Object.entries(data ?? {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const ICONS = {
    reset: '<path d="M4 12a8 8 0 1 0 2.6-5.9"/><path d="M3.5 3.5v4.6h4.6"/>',
    back: '<path d="M14.5 6 8.5 12l6 6"/>',
    next: '<path d="m9.5 6 6 6-6 6"/>',
    play: '<path class="full" d="M8 5.5v13l10.5-6.5z"/>',
    pause: '<path d="M9 6.5v11M15 6.5v11" stroke-width="3.5"/>',
  };
  const icon = (kind) =>
    `<svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">${ICONS[kind]}</svg>`;

  // A button that shows an icon and is called by its label.
  const picture = (kind, label, onclick) =>
    make("button", {
      type: "button",
      title: label,
      innerHTML: icon(kind),
      onclick,
      data: { "aria-label": label },
    });

  return { make, icon, picture };
})();

// Where the text is typed.
nlp104.share("merges", () => {
  const { make } = nlp104elements;
  const MOST = 60; // letters

  function field(choose) {
    const input = make("input", {
      type: "text",
      maxLength: MOST,
      autocomplete: "off",
      spellcheck: false,
      oninput: () => choose(input.value),
    });
    const data = { "data-option": "text" };
    return make("label", { className: "field", data }, make("span", {}, "Text"), input);
  }

  return { field };
});

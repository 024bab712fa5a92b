// Runs inside a page of the book, once it is loaded: returns what a reader would stumble over, and
// where its links lead.
(async () => {
  const problems = [];
  const shown = (element) =>
    element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true });
  const name = (element) => {
    const text = (element.textContent || element.outerHTML)
      .trim()
      .replace(/\s+/g, " ")
      .slice(0, 50);
    const tag = element.tagName.toLowerCase();
    return `<${tag} class="${element.getAttribute("class") || ""}"> ${text}`;
  };

  // Answers lie under covers; a button takes them all away, and the rest looks at what was below.
  const answers = [...document.querySelectorAll(".guess .cell_output > .output")];
  if (answers.some(shown)) problems.push("an answer is seen before the guess");
  document.querySelector(".guess-all")?.click();
  const covered = answers.filter((answer) => !shown(answer));
  if (covered.length) problems.push(`under a cover for ever: ${covered.map(name)}`);

  // Mathematics: wait until it is set, then every formula must hold a typeset one.
  const formulas = [...document.querySelectorAll(".math")];
  if (formulas.length) {
    if (!window.MathJax?.startup) problems.push("MathJax did not load");
    await window.MathJax?.startup?.promise;
    for (const formula of formulas)
      if (!formula.querySelector("mjx-container") || formula.querySelector("mjx-merror"))
        problems.push(`not typeset: ${name(formula)}`);
  }
  await document.fonts.ready;
  await new Promise((done) => setTimeout(done, 150)); // transitions

  const root = document.documentElement;
  if (!root.lang) problems.push("no language");
  if (!document.title) problems.push("no title");
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("main *")]
      .filter((e) => shown(e) && e.getBoundingClientRect().right > root.clientWidth + 1)
      .filter((e) => {
        for (let p = e.parentElement; p; p = p.parentElement)
          if (/auto|scroll|hidden/.test(getComputedStyle(p).overflowX) && p !== document.body)
            return false;
        return true;
      });
    problems.push(
      `scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}; ${wide.slice(0, 3).map(name)}`,
    );
  }

  // A name that runs out of its cell is printed over the next one, or cut by it.
  const right = (element) => element.getBoundingClientRect().right;
  const runs = [...document.querySelectorAll("main td :is(code, a)")].filter(
    (text) => shown(text) && right(text) > right(text.closest("td")) + 1,
  );
  if (runs.length) problems.push(`out of its cell: ${runs.slice(0, 3).map(name)}`);

  for (const image of document.images) {
    const decorative = image.getAttribute("alt") === "" && image.closest("a")?.textContent.trim();
    if (!image.alt && !decorative) problems.push(`no alternative text: ${image.src}`);
    if (image.alt && /\.(png|svg|jpe?g|gif)$/.test(image.alt))
      problems.push(`a file name as text: ${image.alt}`);
    if (!image.naturalWidth) problems.push(`image not shown: ${image.src}`);
  }
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    const id = decodeURIComponent(link.getAttribute("href").slice(1));
    if (id && !document.getElementById(id)) problems.push(`link to nowhere: #${id}`);
  }
  const others = [...document.querySelectorAll('a[href]:not([href^="#"])')];
  const address = (link) => new URL(link.getAttribute("href"), document.baseURI).href;
  const links = [...new Set(others.map(address))];
  const named = (control) =>
    control.textContent.trim() ||
    control.title ||
    control.ariaLabel ||
    control.querySelector("img[alt]");
  for (const control of document.querySelectorAll("button, a[href]"))
    if (shown(control) && !named(control))
      problems.push(`a control without a name: ${control.outerHTML.slice(0, 90)}`);

  // Contrast of text against the first opaque background behind it (WCAG 2.2, 1.4.3).
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const luminance = (color) =>
    color
      .slice(0, 3)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color[3] > 0) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [1, 1, 1]);
  };
  const faint = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || /^(SCRIPT|STYLE|NOSCRIPT)$/.test(element.tagName))
      continue;
    if (!shown(element) || element.closest("mjx-assistive-mml")) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const [a, b] = [luminance(over(rgba(style.color), ground)), luminance(ground)].sort(
      (x, y) => y - x,
    );
    const ratio = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5))
      faint.set(
        `${style.color} on ${ground.map((v) => Math.round(v * 255))}`,
        `${ratio.toFixed(2)}: ${name(element)}`,
      );
  }
  for (const [colors, where] of faint) problems.push(`faint text, ${colors}, ${where}`);
  return { problems, links };
})();

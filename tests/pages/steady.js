// Runs inside a page once it is loaded: returns where it moved under the reader's eyes.
// Measured is the cumulative layout shift (web.dev/articles/cls): the largest sum of shifts within
// five seconds and without a pause of one. Once for what was on the screen while the page loaded;
// and once for each explorable, brought to the screen and taken by its slider through all steps,
// or eighty of them.
(async () => {
  const LIMIT = 0.1;
  const MOST = 80; // steps, of a figure that has hundreds
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  const frame = () =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const REPORTED = 300; // milliseconds after which a busy browser, too, has told of a shift
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({
    type: "layout-shift",
    buffered: true,
  });
  await wait(REPORTED);

  const name = (node) => {
    const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    if (!element) return "(gone)";
    const tag = element.tagName.toLowerCase();
    const text = element.textContent.trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${tag} class="${element.getAttribute("class") ?? ""}"> ${text}`;
  };
  function moved(entries, where) {
    let [score, first, last, total] = [0, -Infinity, -Infinity, 0];
    for (const { startTime, value } of entries) {
      if (startTime - last > 1000 || startTime - first > 5000) [first, total] = [startTime, 0];
      last = startTime;
      score = Math.max(score, (total += value));
    }
    if (score <= LIMIT) return [];
    const worst = entries.reduce((a, b) => (b.value > a.value ? b : a));
    const moving = worst.sources.slice(0, 3).map(({ node }) => name(node));
    return [`shifts ${score.toFixed(2)} ${where}: ${moving}`];
  }

  const problems = moved(shifts, "while it loads");
  for (const figure of document.querySelectorAll(".nlp104.explore")) {
    const slider = figure.querySelector("input[type=range]");
    const start = slider.value;
    const go = async (step) => {
      slider.value = step;
      slider.dispatchEvent(new Event("input"));
      await frame();
    };
    figure.scrollIntoView({ behavior: "instant" });
    await wait(REPORTED);
    shifts.length = 0;
    const stride = Math.max(1, Math.ceil(Number(slider.max) / MOST));
    for (let step = 0; step <= Number(slider.max); step += stride) await go(step);
    await wait(REPORTED);
    problems.push(...moved(shifts, `while ${figure.dataset.scene} is stepped`));
    await go(start);
  }
  scrollTo({ top: 0, behavior: "instant" });
  return problems;
})();

// Runs inside a page that holds axe-core: returns what breaks WCAG 2.2 A or AA, with all unfolded.
(async () => {
  const folded = document.querySelectorAll("details:not([open])");
  folded.forEach((details) => (details.open = true));
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"];
  const { violations } = await axe.run({ runOnly: tags, resultTypes: ["violations"] });
  folded.forEach((details) => (details.open = false));
  return violations.map(({ id, help, nodes }) => {
    const kinds = new Set(nodes.map(({ html }) => html.match(/<\w+(?: class="[^"]*")?/)[0]));
    const where = `${[...kinds].slice(0, 4)} at ${nodes[0].target}`;
    return `axe ${id} (${help}), ${nodes.length} times: ${where}`;
  });
})();

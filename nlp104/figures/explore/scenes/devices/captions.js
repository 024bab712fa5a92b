// What is said of each step: of a grid with more than one slice, and else.
nlp104.share("devices", ({ sum, exact, devices: { bytes } }) => {
  const GRIDS = {
    one:
      "One device has everything: all rows of the batch, all columns of every matrix. " +
      "That is what the others are compared with.",
    rows:
      "**Eight by one: data parallel.** Every device holds the whole model and takes an eighth " +
      "of the batch. Nobody needs less memory for weights.",
    both:
      "**Two by four.** Below each other: the same slices, other rows of the batch. Side by " +
      "side: the same rows, other slices of every matrix.",
    slices:
      "**One by eight: model parallel.** Every device sees the whole batch and holds an eighth " +
      "of every matrix. Only small vectors, such as norms, are held by all.",
  };
  const ALONE = "No device waits for another here. ";
  const each = ({ sent, exchange }) => `Each device sends **${bytes(sent[exchange])}**`;

  // The embeddings may be held by all although the other matrices are cut.
  function shared({ model, slices, cutWords }) {
    if (cutWords || slices === 1) return "";
    const words = exact(model.words);
    return ` The ${words} words do not divide by ${slices}, so every device holds them all.`;
  }

  const CUT = {
    heads({ model, slices }) {
      const heads = slices < model.heads ? `${model.heads / slices} heads` : "one head";
      return (
        `Each device computes queries, keys and values of **${heads}**, and their whole ` +
        "attention. A head needs no other head: nothing to exchange."
      );
    },
    joined: () =>
      "The heads meet in $W_O$. Each device has only the rows that its heads meet, so what comes " +
      "out is a **partial** sum (hatched): as large as the result, and not yet it.",
    attended: (view) =>
      "Partial sums are **added up**, and then all devices of a row have the same vectors. " +
      `${each(view)} for the ${3 * view.model.layers} attentions of the model.`,
    inside: ({ model, slices }) =>
      `$W_1$ is cut by columns: each device computes **${exact(model.ff / slices)}** of the ` +
      `${exact(model.ff)} inner units. ReLU looks at each alone. Nothing to exchange.`,
    back: () =>
      "$W_2$ is cut by rows, so that each device multiplies the inner units that it has. Again a " +
      "**partial** sum. Columns first, then rows: that order saves one exchange.",
    networks: (view) =>
      `One more sum, and the vectors are whole. ${each(view)} for the ` +
      `${2 * view.model.layers} networks of the model.`,
    backwards: (view) =>
      "Backwards all is mirrored: what was split is summed, what was summed is split. The " +
      `gradient of every input is one sum among a row of devices. ${each(view)}.`,
  };

  const batchOf = ({ rows }) => (rows > 1 ? "its own rows of the batch" : "the whole batch");
  const WHOLE = {
    heads: (view) => `All ${view.model.heads} heads, for ${batchOf(view)}. ${ALONE}`,
    joined: () => `$W_O$ joins the heads. ${ALONE}`,
    attended: () => `The vectors are whole already. ${ALONE}`,
    inside: ({ model }) => `All ${exact(model.ff)} inner units. ${ALONE}`,
    back: () => `And back to the width of the model. ${ALONE}`,
    networks: () => `These vectors, too, are whole already. ${ALONE}`,
    backwards: (view) =>
      "Backwards through the same matrices. Every device gets gradients of all its weights, from " +
      `${batchOf(view)}. ${ALONE}`,
  };

  const ANY = {
    hold: (view) => GRIDS[view.grid] + shared(view),
    embed(view) {
      if (view.cutWords)
        return (
          "Each device finds the words that are in its slice and has zeros for the others; a " +
          `**sum** makes the embeddings whole. ${each(view)}.`
        );
      const others = view.count > 1 ? "Nothing to exchange." : "";
      return `Every word is looked up where it is needed. ${others}`;
    },
    logits(view) {
      const { model, slices, cutWords } = view;
      if (cutWords)
        return (
          `Each device computes the logits of **${exact(model.words / slices)}** words: the ` +
          "largest tensor of all stays cut."
        );
      return `All ${exact(model.words)} logits of each token.${shared(view) || ` ${ALONE}`}`;
    },
    loss(view) {
      if (view.cutWords)
        return (
          "The loss needs of each device only four numbers for each token: its greatest logit, " +
          `two sums, and the right word’s logit if it has that. ${each(view)}.`
        );
      const mean = "Nothing to exchange but a few numbers for the mean.";
      return `The loss of the device’s own tokens. ${view.count > 1 ? mean : ""}`;
    },
    gradients(view) {
      if (view.rows > 1)
        return (
          "Devices that hold the same slice have seen other sentences. They **add up their " +
          `gradients**. ${each(view)}, however few or many tokens the batch has.`
        );
      if (view.count === 1) return "The gradients of all weights are whole.";
      return (
        "All devices have seen all sentences, so the gradients of their slices are whole. " +
        "Nothing to exchange."
      );
    },
    adam({ rows }) {
      const same = rows > 1 ? ": the same gradients lead to the same weights" : "";
      return (
        "Adam changes the weights that a device holds, with the moments that lie beside them. " +
        `Nothing to exchange${same}.`
      );
    },
    bill(view) {
      const { model, account, batch, sent, count } = view;
      if (count === 1)
        return "One device sends nothing, and holds everything. Now choose another grid.";
      const [held, alone] = [account, model.grids.one].map((one) => bytes(4 * one.held));
      return (
        `The bill for **${exact(batch)}** tokens of each language: every device holds ` +
        `**${held}** of the ${alone}, and sends **${bytes(sum(sent))}**: ${growth(view)}.`
      );
    },
  };

  function growth({ rows, slices }) {
    if (rows === 1) return "in sums of vectors, so it grows with the batch";
    if (slices === 1) return "in gradients, so it grows with the model and not with the batch";
    return (
      "vectors to its row, which grow with the batch, and gradients to its column, which grow " +
      "with the model"
    );
  }

  function caption(view) {
    const { size, model, account, slices, text } = view;
    if (!account)
      return (
        `The preset ${size} has **${model.heads} heads**, and a head is not cut: ${slices} ` +
        "slices are refused. Take another grid, or a larger model."
      );
    const texts = { ...ANY, ...(slices > 1 ? CUT : WHOLE) };
    return texts[text](view);
  }

  return { caption };
});

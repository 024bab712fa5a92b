"""What `decoding` says of each of its states; the page fills in what stands in braces."""

TITLE = "Who chooses the next word?"
LEAD = (
    "A trained model gives probabilities; somebody has to choose. Tap a first word, or step. Then "
    "try beams, and more of them, until a better sentence turns up."
)
CUTS = {"top_p": "top-p", "top_k": "top-k"}
CAPTIONS = {
    # The first word, drawn whole.
    "vector": (
        "The decoder has read **start** alone and looks most at {seen}. What it makes of that"
        " is a vector of {width} numbers. Which word will come first?"
    ),
    "logits": (
        "That vector times the matrix $W$ gives one logit for each of {vocabulary} pieces. "
        "{top} has the highest, **{logit}**. A logit is no probability yet."
    ),
    "softmax": (
        "Softmax makes probabilities of the logits: {top} gets **{p}**. The last column is "
        "the logarithm of that, **{log}**: logarithms are added along a sentence."
    ),
    "heated": (
        "All logits are divided by T = {T} before the softmax. {top} gets **{p}**{cut}; the model "
        "alone gives it {plain}. The bar shares out 1 among the words, and the dice will fall on "
        "it."
    ),
    "not heated": (
        "At T = 1 the softmax takes the logits as they are. {top} gets **{p}**{cut}. The bar "
        "shares out 1 among the words, and the dice will fall on it."
    ),
    # Greedy.
    "greedy first": (
        "Greedy takes the most probable word: {one}, **{p}**. Was that wise? Tap another "
        "first word, and greedy goes on from yours."
    ),
    "other first": (
        "You begin with {one}, **{p}**, where greedy takes {top}. Step on: greedy continues "
        "your beginning."
    ),
    "greedy": (
        "{one} follows with **{p}**, so the sum, log P, falls from {before} to **{total}**. "
        "One position was computed; it looked most at {seen}."
    ),
    "greedy end": (
        "**{said}** is finished: log P = **{total}**, a probability of {P}. Is another "
        "sentence more probable? Go back and tap another first word, or try beams."
    ),
    "other end": (
        "From your first word greedy writes **{said}**, log P = **{total}**. By itself it "
        "reached {greedy}: yours is {verdict}."
    ),
    # Beams.
    "beam first": (
        "Up to k = {k} words are kept, the most probable ones: as many beginnings go on side by "
        "side. The best of them, {one}, need not win."
    ),
    "one first": (
        "With k = 1 only the most probable word is kept: {one}, **{p}**. That is greedy. From k = "
        "2 on, several beginnings go on side by side."
    ),
    "one": (
        "The one beginning is continued in every way, and the best is kept: {one}, **{p}**. The "
        "sum, log P, falls from {before} to **{total}**."
    ),
    "beam": (
        "Every beginning is continued in every way, and the best sums are kept, up to k = "
        "{k}. Ahead: **{ahead} …** with **{total}**. Beginnings dropped: **{dropped}**."
    ),
    "ended": (
        "**{best}** has ended, with a score of **{score}**. The search goes on, because "
        "**{ahead} …** might still come out ahead of it."
    ),
    "beam end": (
        "With k = {k} beam search finds **{said}**, score **{score}**. Its log P is {total}, "
        "greedy's {greedy}: {verdict}. Nothing in the beam can win any more."
    ),
    # Dice.
    "sampling": (
        "The dice show **{u}**. That falls on {one}, whose share is **{p}**; the model alone "
        "gives it {plain}. Log P is now **{total}**."
    ),
    "sampling end": (
        "**{said}**: log P = **{total}**, and greedy has {greedy}. Change the temperature: "
        "the dice stay the same, the shares do not."
    ),
    # All.
    "cut off": (
        "After {limit} pieces the recording ends, the sentence does not: **{said} …**, log P "
        "= **{total}**. Greedy has {greedy}."
    ),
}
VERDICTS = ["less probable", "just as probable", "more probable"]

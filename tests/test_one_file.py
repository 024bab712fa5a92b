"""The Transformer in one file: equal to the package's, its masks hold, it trains."""

import ast
import functools
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import ops

import nlp104
from experiments.one_file_starts import begin_alike
from nlp104 import one_file
from nlp104.data import grammar
from nlp104.one_file import END, PADDING, START, UNKNOWN, Batches, Transformer, Vocabulary
from nlp104.training import MaskedAccuracy, MaskedCrossentropy
from nlp104.transformer import TransformerConfig
from tools.notebooks import ROOT

DEPTH, DIM, INNER, HEADS = 2, 16, 24, 4
SOURCE_WORDS, TARGET_WORDS = 11, 13
SOURCE = np.array([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
TARGET = np.array([[2, 4, 5, 6], [2, 7, 0, 0]])


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(104)
    made = Transformer(SOURCE_WORDS, TARGET_WORDS, DEPTH, DIM, INNER, HEADS, dropout=0.3)
    made((SOURCE, TARGET))
    return made


@pytest.fixture(scope="module")
def pairs():
    return [(example.source, example.target) for example in grammar.generate(300, seed=3)]


def logits(model, source, target):
    return ops.convert_to_numpy(model((np.asarray(source), np.asarray(target))))


# The file itself.


def test_it_needs_nothing_but_keras_and_can_be_read_in_one_sitting():
    text = (ROOT / "nlp104/one_file.py").read_text()
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    foreign = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert foreign == {"keras", "numpy", "nlp104.data"}  # the last for the book's small language
    assert sum(bool(line.strip()) for line in text.splitlines()) <= 230


# Words.


def test_every_sentence_of_the_grammar_comes_back(pairs):
    for texts in zip(*pairs, strict=True):  # English, which writes "sleep?", and French, "dort ?"
        vocabulary = Vocabulary(texts)
        assert [vocabulary.decode(vocabulary.encode(text)) for text in texts] == list(texts)


def test_signs_stand_where_a_language_puts_them():
    texts = ["Fährt der Zug ab? Ja!", "Ja, um drei.", "Ein Wort - noch eins; so ist's."]
    vocabulary = Vocabulary(texts)
    assert [vocabulary.decode(vocabulary.encode(text)) for text in texts] == texts


def test_the_vocabulary_holds_the_most_frequent_words_and_one_id_for_the_others():
    vocabulary = Vocabulary(["a b a c", "a b"], size=6)
    assert vocabulary.words[4:] == ["a", "b"]
    assert vocabulary.encode("b c d") == [5, UNKNOWN, UNKNOWN]


def test_a_batch_asks_for_what_is_read_one_place_later(pairs):
    source, target = (Vocabulary(texts) for texts in zip(*pairs, strict=True))
    seen = []
    ids = real = 0
    batches = Batches(pairs, source, target, size=32)
    for index in range(len(batches)):
        (read, begun), asked = batches[index]
        assert np.array_equal(begun[:, 1:], asked[:, :-1])
        assert np.all(begun[:, 0] == START)
        ids, real = ids + asked.size, real + np.count_nonzero(asked)
        for row, answer in zip(read, asked, strict=True):
            words = (row[: list(row).index(END)], answer[: list(answer).index(END)])
            seen.append((source.decode(words[0]), target.decode(words[1])))
    assert sorted(seen) == sorted(pairs)
    assert real / ids > 0.9  # little padding, even among 300


# The model.


@pytest.mark.slow
def test_it_is_the_packages_model_weight_by_weight(model):
    config = TransformerConfig(
        hidden_dim=DIM,
        intermediate_dim=INNER,
        num_heads=HEADS,
        num_layers=DEPTH,
        vocabulary_size=TARGET_WORDS,
        source_vocabulary_size=SOURCE_WORDS,
    )
    package = nlp104.Transformer(config)
    package({"encoder_token_ids": SOURCE, "decoder_token_ids": TARGET})
    parts = [
        (package.encoder_embedding, [model.source_embed]),
        (package.decoder_embedding, [model.target_embed]),
        (package.encoder, model.encoder_layers),
        (package.decoder, model.decoder_layers),
        (package.output_head, [model.to_words]),
    ]
    for theirs, mine in parts:
        weights = [
            weight for layer in mine for weight in layer.weights if "seed" not in weight.path
        ]
        others = [weight for weight in theirs.weights if "seed" not in weight.path]
        for weight, other in zip(weights, others, strict=True):
            other.assign(ops.reshape(weight, other.shape))
    expected = ops.convert_to_numpy(
        package({"encoder_token_ids": SOURCE, "decoder_token_ids": TARGET})
    )
    real = TARGET != PADDING
    np.testing.assert_allclose(logits(model, SOURCE, TARGET)[real], expected[real], atol=1e-5)


@pytest.mark.slow
def test_no_two_matrices_begin_alike():
    """An initializer that several layers share gives all of them the same numbers."""
    keras.utils.set_random_seed(104)
    made = Transformer(SOURCE_WORDS, TARGET_WORDS, DEPTH, DIM, INNER, HEADS, dropout=0.0)
    made((SOURCE, TARGET))
    kernels = [ops.convert_to_numpy(w) for w in made.weights if w.path.endswith("kernel")]
    assert len({kernel.tobytes() for kernel in kernels}) == len(kernels) > 20
    attention = made.encoder_layers[0].attention
    for layer, limit in (
        (attention.to_query, (1.5 / DIM) ** 0.5),
        (attention.to_output, (3 / DIM) ** 0.5),
    ):
        largest = np.abs(ops.convert_to_numpy(layer.kernel)).max()
        assert 0.9 * limit < largest <= limit  # half of Glorot's variance, and all of it


def test_more_padding_moves_no_logit(model):
    longer = [np.pad(ids, ((0, 0), (0, 3))) for ids in (SOURCE, TARGET)]
    padded = logits(model, *longer)[:, : TARGET.shape[1]]
    real = TARGET != PADDING
    np.testing.assert_allclose(padded[real], logits(model, SOURCE, TARGET)[real], atol=1e-5)


def test_the_future_moves_no_logit_and_the_past_does(model):
    changed = TARGET.copy()
    changed[0, 2] = 9
    moved = np.abs(logits(model, SOURCE, changed) - logits(model, SOURCE, TARGET))[0].max(-1)
    assert moved[:2].max() < 1e-6
    assert moved[2:].min() > 1e-3


def test_dropout_acts_in_training_only(model):
    def run(training):
        return ops.convert_to_numpy(model((SOURCE, TARGET), training=training))

    np.testing.assert_array_equal(run(False), run(False))
    assert np.abs(run(True) - run(True)).max() > 1e-3


# Training.


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_formula_and_the_packages(smoothing):
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(3, 5, 7))
    labels = np.array([[1, 2, 3, 4, 5], [6, 1, 0, 0, 0], [2, 2, 2, 0, 0]])
    log_p = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    wanted = (1 - smoothing) * np.eye(7)[labels] + smoothing / 7
    expected = -(wanted * log_p).sum(-1)[labels != PADDING].mean()
    scores = scores.astype("float32")
    assert float(one_file.masked_loss(labels, scores, smoothing)) == pytest.approx(expected, 1e-5)
    assert float(MaskedCrossentropy(smoothing)(labels, scores)) == pytest.approx(expected, 1e-5)
    accuracy = MaskedAccuracy()
    accuracy.update_state(labels, scores)
    expected = (scores.argmax(-1) == labels)[labels != PADDING].mean()
    assert float(one_file.masked_accuracy(labels, scores)) == pytest.approx(expected)
    assert float(accuracy.result()) == pytest.approx(expected)


def test_the_rate_rises_to_its_peak_and_falls_to_zero(model):
    one_file.compile_model(model, steps=1000, peak=2e-3, warmup=100)
    rate = model.optimizer._learning_rate
    assert [float(rate(step)) for step in (0, 50, 100, 550, 1000)] == pytest.approx(
        [0, 1e-3, 2e-3, 1e-3, 0], abs=1e-8
    )


def test_a_short_training_warms_up_for_half_of_it(model):
    one_file.compile_model(model, steps=10, peak=2e-3, warmup=200)
    rate = model.optimizer._learning_rate
    assert [float(rate(step)) for step in (0, 5, 10)] == pytest.approx([0, 2e-3, 0], abs=1e-8)


@pytest.mark.slow
def test_it_trains_where_the_first_two_batches_have_sources_of_one_length():
    """Keras takes an axis that does not vary between these two for one that never does."""
    source, target = Vocabulary(["a b c d e"]), Vocabulary(["q r s t"])
    pairs = [("a b c d", "q")] * 4 + [("a b", "q r")] * 4 + [("a b c d", "q r s")] * 3
    batches = Batches(pairs, source, target, size=4)
    assert len(batches) == 3
    first, second = batches[0][0], batches[1][0]
    assert all(a.shape[1] != b.shape[1] for a, b in zip(first, second, strict=True))
    made = Transformer(SOURCE_WORDS, TARGET_WORDS, 1, DIM, INNER, HEADS)
    one_file.compile_model(made, steps=3)
    assert np.isfinite(made.fit(batches, verbose=0).history["loss"]).all()


def test_a_sentence_longer_than_the_table_of_positions_is_a_clear_error():
    words, width = Vocabulary(["a"]), len(one_file.Embed(5, DIM, 0.0).positions)
    longest = words.encode("a " * (width - 1))
    assert [*longest, END] == [words.ids["a"]] * (width - 1) + [END]
    with pytest.raises(ValueError, match=rf"at most {width - 1} words. Received: {width}, a a"):
        words.encode("a " * width)


@pytest.mark.parametrize(
    ("lines", "received"),
    [("", "0, 0"), ("a\tb\n", "0, 1"), ("a\tb\na\tb\n", "1, 0"), ("no tab\n", "0, 0")],
)
def test_a_file_of_too_few_pairs_is_a_clear_error(tmp_path, lines, received):
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(
        ValueError, match=f"^Expected pairs to train, to test. Received: {received}"
    ):
        one_file.main(tmp_path / "pairs.tsv", 1)


@pytest.mark.slow
def test_two_pairs_are_enough(tmp_path, capsys, monkeypatch):
    small = functools.partial(Transformer, depth=1, dim=DIM, inner=INNER)
    monkeypatch.setattr(one_file, "Transformer", small)
    short = functools.partial(one_file.translate, longest=6)  # it has not learnt to end
    monkeypatch.setattr(one_file, "translate", short)
    (tmp_path / "pairs.tsv").write_text("a b\tq\nc d\tr\n", encoding="utf-8")
    one_file.main(tmp_path / "pairs.tsv", 1)
    assert "% of 1 sentences never seen" in capsys.readouterr().out


# Translation.


@pytest.mark.slow
def test_it_writes_the_most_probable_word_each_time_until_the_end(model):
    texts = ["a b c d", "b"]
    source = Vocabulary(["a b c d e f g"])
    target = Vocabulary(["q r s t u v w x y"])
    written = one_file.translate(model, texts, source, target, longest=6)
    for text, translation in zip(texts, written, strict=True):
        ids = [START]
        while len(ids) <= 6 and END not in ids:  # each alone, the whole model at every step
            scores = logits(model, [[*source.encode(text), END]], [[*ids, PADDING]])
            ids.append(int(scores[0, len(ids) - 1].argmax()))
        assert translation == target.decode([i for i in ids[1:] if i != END])


@pytest.mark.long
def test_it_trains_on_a_file_from_the_terminal(tmp_path, pairs):
    file = tmp_path / "pairs.tsv"
    lines = [f"{english}\t{french}\tsomebody's\n" for english, french in pairs]
    file.write_text("".join(lines), encoding="utf-8")
    said = subprocess.run(
        [sys.executable, "-m", "nlp104.one_file", str(file), "1"],  # one epoch
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    assert "0.0% of 5 sentences never seen are exactly right" in said


@pytest.mark.slow
def test_starts_alike_have_one_matrix_for_queries_keys_and_values_and_all_else_as_it_was():
    keras.utils.set_random_seed(104)
    model = Transformer(SOURCE_WORDS, TARGET_WORDS, DEPTH, DIM, INNER, HEADS)
    model((SOURCE, TARGET))
    before = {weight.path: ops.convert_to_numpy(weight) for weight in model.weights}
    begin_alike(model)
    after = {weight.path: ops.convert_to_numpy(weight) for weight in model.weights}
    looks = [layer.attention for layer in model.encoder_layers]
    looks += [look for la in model.decoder_layers for look in (la.look_back, la.look_across)]
    for look in looks:
        queries, keys, values = (
            ops.convert_to_numpy(dense.kernel)
            for dense in (look.to_query, look.to_key, look.to_value)
        )
        np.testing.assert_array_equal(keys, queries)
        np.testing.assert_array_equal(values, queries)
    changed = {path for path in before if not np.array_equal(before[path], after[path])}
    assert changed == {dense.kernel.path for x in looks for dense in (x.to_key, x.to_value)}

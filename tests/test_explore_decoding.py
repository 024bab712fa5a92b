"""The explorable of decoding: its record is what the model says, its searches are the package's."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from browser import needs_browser
from explore_page import write
from keras import ops
from test_explore import LOOK, RESTLESS

import nlp104
from experiments import decoding_record
from nlp104 import decoding as package
from nlp104.data.tokenizer import END_ID, START_ID
from nlp104.decoding.beam_search import search as package_search  # not compiled
from nlp104.figures import results
from nlp104.figures.explore import decoding_texts
from nlp104.figures.explore.decoding import ALPHAS, BEAMS, RECORD, decoding, search_record, text

BUS, HELP = range(2)
GREEDY, K1, K2, K4 = {"mode": "greedy"}, *({"mode": "beam", "k": k} for k in range(3))
COLD, WARM, HOT = range(3)
ALL, TOP_K, TOP_P = range(3)
LAST = 11  # step


@pytest.fixture(scope="module")
def translator():
    return nlp104.load_pretrained("eng-fra")


@pytest.fixture(scope="module")
def figure():
    return decoding()


@pytest.fixture(scope="module")
def record():
    return json.loads(results.read(RECORD))


@pytest.fixture(scope="module")
def page(figure, tmp_path_factory):
    return write(tmp_path_factory.mktemp("decoding") / "page.html", figure)


@pytest.fixture(scope="module")
def sources(translator, record):
    english = [sentence["english"] for sentence in record["sentences"]]
    return [np.array([[*ids, END_ID]]) for ids in translator.source_tokenizer.encode_batch(english)]


@pytest.fixture(scope="module")
def said(translator, record, sources):
    """For each sentence of every node: token ids, logits, looks, and the last vector."""
    return [
        _ask(translator, record, s, ids)
        for s, ids in zip(record["sentences"], sources, strict=True)
    ]


def _ask(translator, record, sentence, source):
    model, to_id = translator.model, translator.target_tokenizer.token_to_id
    prefixes = []
    for before, word, *_ in sentence["nodes"]:
        start = [START_ID] if before < 0 else [*prefixes[before], to_id(record["words"][word])]
        prefixes.append(start)
    rows = np.zeros((len(prefixes), record["limit"] + 1), "int32")
    for row, prefix in zip(rows, prefixes, strict=True):
        row[: len(prefix)] = prefix
    inputs = {
        "encoder_token_ids": np.repeat(source, len(rows), axis=0),
        "decoder_token_ids": rows,
    }
    last = np.arange(len(rows)), [len(prefix) - 1 for prefix in prefixes]
    logits = ops.convert_to_numpy(model(inputs, training=False))[last].astype("float64")
    looks = ops.convert_to_numpy(model.attention_scores(inputs)["cross"][-1]).mean(axis=1)[last]
    memory = model.encode(inputs["encoder_token_ids"])
    vectors = model.decoder(model.decoder_embedding(rows), memory)
    return prefixes, logits, looks, ops.convert_to_numpy(vectors)[last]


def log_softmax(logits):
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


def ids_of(translator, record, tokens):
    return [translator.target_tokenizer.token_to_id(record["words"][token]) for token in tokens]


def trimmed(row):
    return [int(token) for token in row if token]


# --- the record is what the model says ---


def test_the_record_is_small_and_explained(figure, record):
    assert (results.FOLDER / RECORD).stat().st_size <= 40_000
    assert len(json.dumps(figure.data, ensure_ascii=False, separators=(",", ":"))) <= 44_000
    assert tuple(record["columns"]) == decoding_record.COLUMNS
    readme = (results.FOLDER / RECORD).with_name("README.md").read_text(encoding="utf-8")
    assert all(f"`{column}`" in readme for column in record["columns"])


@pytest.mark.slow
@pytest.mark.parametrize("number", [BUS, HELP])
def test_probabilities_are_the_models(translator, record, said, number):
    nodes, (_, logits, looks, vectors) = record["sentences"][number]["nodes"], said[number]
    logs = log_softmax(logits)
    numbers = np.arange(len(nodes))[:, None]
    best = np.argsort(-logs)[:, : decoding_record.TOP]
    top = np.array([node[4] for node in nodes])
    words = np.array(record["words"])[top[:, ::2]]
    np.testing.assert_array_equal(
        words, np.vectorize(translator.target_tokenizer.id_to_token)(best)
    )
    np.testing.assert_allclose(top[:, 1::2] / 1000, logs[numbers, best], atol=0.0015)
    norms = np.array([node[3] for node in nodes]) / 1000
    np.testing.assert_allclose(norms, (logits - logs)[:, 0], atol=0.0015)
    np.testing.assert_allclose([node[5] for node in nodes], 100 * looks, atol=0.51)
    for before, word, log, *_ in nodes[1:]:
        token = translator.target_tokenizer.token_to_id(record["words"][word])
        assert log / 1000 == pytest.approx(logs[before, token], abs=0.0015)
    digits = np.array([[int(d) for d in node[6]] for node in nodes])
    part = vectors[:, :12]
    np.testing.assert_allclose(digits[:, :12], 4.5 + 4.5 * part / np.abs(part).max(), atol=0.51)


@pytest.mark.slow
def test_keys_and_values_are_those_of_the_cache(translator, record, said):
    prefixes, *_ = said[BUS]
    beginnings = decoding_record.Beginnings(translator, record["sentences"][BUS]["english"])
    _, states = beginnings.inside([tuple(prefix[1:]) for prefix in prefixes])
    assert states == [node[6] for node in record["sentences"][BUS]["nodes"]]


@pytest.mark.parametrize("number", [BUS, HELP])
def test_temperature_and_nucleus_are_in_closed_form(record, said, number):
    _, logits, *_ = said[number]
    tested = 0
    for node, row in zip(record["sentences"][number]["nodes"], log_softmax(logits), strict=True):
        for T, heat in zip(record["temperatures"], node[7], strict=True):
            if heat:
                total, count, mass = heat
                powers = np.exp(row[1:] / T)  # never padding
                p = np.sort(powers)[::-1] / powers.sum()
                assert total / 1000 == pytest.approx(np.log(powers.sum()), abs=0.002)
                assert mass / 1000 == pytest.approx(p[:count].sum(), abs=0.002)
                assert p[: count - 1].sum() < 0.901
                assert mass >= 899
                tested += 1
    assert tested > 60


@pytest.mark.slow
def test_draws_are_the_packages(translator, record, sources):
    cuts = [{"top_p": 1.0}, {"top_k": 5}, {"top_p": 0.9}]
    assert record["cuts"] == cuts
    for number, source in enumerate(sources):
        for T, by_cut in zip(
            record["temperatures"], record["sentences"][number]["draws"], strict=True
        ):
            for cut, rows in zip(cuts, by_cut, strict=True):
                seed = record["seeds"][number]
                options = {"temperature": T, "seed": seed, "max_length": record["limit"], **cut}
                expected = trimmed(package.sample(translator.model, source, **options)[0])
                assert ids_of(translator, record, rows[number]) == expected
    for seed, dice in zip(record["seeds"], record["dice"], strict=True):
        numbers = np.random.default_rng((seed, 0)).random(record["limit"], "float32")
        np.testing.assert_allclose(dice, numbers, atol=5.1e-5)


# --- the searches are the package's ---


@pytest.mark.slow
def test_searches_on_the_record_are_the_packages(translator, record, sources):
    rows = np.zeros((2, max(ids.shape[1] for ids in sources)), "int32")
    for row, ids in zip(rows, sources, strict=True):
        row[: ids.shape[1]] = ids[0]
    limits = ops.full((2,), record["limit"], dtype="int32")
    for k in BEAMS:  # one beam is greedy decoding
        for alpha in ALPHAS:
            inputs = ops.convert_to_tensor(rows), limits, ops.convert_to_tensor(alpha)
            found, scores = map(
                ops.convert_to_numpy,
                package_search(translator.model, *inputs, record["limit"], k, num_best=1),
            )
            for number in (BUS, HELP):
                tokens, score = search_record(record, number, k, alpha)[0]
                assert ids_of(translator, record, tokens) == trimmed(found[number, 0])
                assert score == pytest.approx(scores[number, 0], abs=0.005)


# --- what the eye is to learn ---


def test_more_beams_find_a_more_probable_and_a_better_sentence(record):
    found = [search_record(record, BUS, k)[0] for k in BEAMS]
    assert [text(record, tokens) for tokens, _ in found] == [
        "Je suis impatiente du bus.",
        "J'ai hâte du bus.",
        "J'attends le bus.",
    ]
    assert [round(score, 1) for _, score in found] == [-3.7, -3.5, -2.5]
    firsts = record["sentences"][BUS]["nodes"][0][4][::2]
    assert [firsts.index(tokens[0]) for tokens, _ in found] == [0, 1, 2]  # lost at the first word


def test_a_length_penalty_gives_the_longer_sentence(record):
    (short, _), (long, _) = (search_record(record, HELP, 4, alpha)[0] for alpha in ALPHAS)
    assert text(record, short) == "Veuillez m'aider."
    assert text(record, long) == "Je vous prie de m'aider."


def test_heat_flattens_and_cuts_save(record):
    for sentence in record["sentences"]:
        totals = np.array(
            [
                [[_log(record, sentence, row) for row in rows] for rows in c]
                for c in sentence["draws"]
            ]
        )
        assert totals[COLD, ALL].min() > totals[HOT, ALL].max() + 20
        assert (totals[HOT, TOP_K] > totals[HOT, ALL] + 10).all()
        assert totals[WARM, TOP_P].mean() > totals[WARM, ALL].mean()


def _log(record, sentence, row):
    after = {(node[0], node[1]): number for number, node in enumerate(sentence["nodes"])}
    at = total = 0
    for word in row:
        top = sentence["nodes"][at][4]
        chances = dict(zip(top[::2], top[1::2], strict=True))
        child = after.get((at, word))
        total += sentence["nodes"][child][2] if child else chances.get(word, top[-1])
        at = child
    return total / 1000


# --- on the page ---


@needs_browser
@pytest.mark.parametrize("number", [BUS, HELP])
def test_the_page_searches_as_the_package_does(reader, record, number):
    greedy = search_record(record, number, 1)[0][1]
    for k, beams in enumerate(BEAMS):
        for alpha in range(len(ALPHAS)):
            ended = search_record(record, number, beams, ALPHAS[alpha])
            tokens, score = ended[0]
            total = score * ((5 + len(tokens)) / 6) ** ALPHAS[alpha]
            state = {"mode": "beam", "k": k, "alpha": alpha, "sentence": number}
            captions = {reader.draw(step=step, **state).caption for step in range(3, LAST + 1)}
            (end,) = [c for c in captions if c.startswith(f"With k = {beams} beam search finds ")]
            assert f"finds **{text(record, tokens)}**, score **{_sign(score)}**" in end
            assert f"Its log P is {_sign(total)}, greedy's {_sign(greedy)}: " in end
            assert ("more probable." in end) == (total > greedy + 0.001)
    caption = reader.draw(step=LAST, sentence=number, **GREEDY).caption
    assert text(record, search_record(record, number, 1)[0][0]) in caption


def _sign(x):
    return f"{x:.2f}".replace("-", "−")


@needs_browser
def test_one_step_is_logits_softmax_and_logarithm(reader, said):
    _, logits, looks, _ = said[BUS]
    logs = log_softmax(logits[0])
    best = np.argsort(-logs)[:6]
    drawn = reader.draw(step=3)
    expected = np.stack([logits[0][best], np.exp(logs[best]), logs[best]], axis=1)
    np.testing.assert_allclose(drawn.values, expected, atol=0.004)
    assert drawn.columns == ["logit", "p", "log p"]
    shares = [cell["value"] for cell in drawn.cells("a")]
    np.testing.assert_allclose(shares, np.maximum(looks[0], 0.01), atol=0.0051)
    for step, hidden in enumerate(([True] * 3, [False, True, True], [False] * 3)):
        np.testing.assert_array_equal(np.isnan(reader.draw(step=step).values), [hidden] * 6)


@needs_browser
def test_dice_fall_on_shares_that_are_softmax_of_logits_by_temperature(reader, record, said):
    _, logits, *_ = said[BUS]
    for heat, T in enumerate(record["temperatures"]):
        powers = np.exp(log_softmax(logits[0])[1:] / T)
        p = np.sort(powers)[::-1] / powers.sum()
        kept = int((np.cumsum(p) < 0.9).sum()) + 1
        for cut, count in enumerate((len(p), 5, kept)):
            scaled = np.where(np.arange(len(p)) < count, p, 0) / p[:count].sum()
            for throw, dice in enumerate(record["dice"]):
                state = {"mode": "sampling", "heat": heat, "cut": cut, "draw": throw}
                drawn = reader.draw(step=3, **state)
                row = record["sentences"][BUS]["draws"][heat][cut][throw]
                word = record["words"][row[0]].replace("▁", "")
                assert f"The dice show **{dice[0]:.3f}**. That falls on **" in drawn.caption
                before = reader.draw(**{**state, "step": 2}).caption
                assert ("the words that are cut leave it their share" in before) == (cut > 0)
                if word in drawn.rows[:5]:
                    place = drawn.rows.index(word)
                    start = scaled[:place].sum()
                    assert start - 0.003 < dice[0] < start + scaled[place] + 0.003
                    np.testing.assert_allclose(drawn.values[:5, 1], scaled[:5], atol=0.003)
                else:  # beyond the words that are shown
                    assert dice[0] > scaled[:5].sum() - 0.003
                cut_off = [m for m in drawn.marks if m.get("source") == "cut"]
                assert len(cut_off) == max(0, 6 - count) or word not in drawn.rows[:5]


@needs_browser
def test_the_words_that_are_not_shown_have_the_rest(reader, record):
    follows = record["sentences"][BUS]["nodes"][0][4]
    rest = 1 - np.exp(np.array(follows[1::2]) / 1000).sum()
    for step, shown in enumerate((False, False, True, True, False)):
        said = [m["source"] for m in reader.draw(step=step).marks if m["key"] == "others"]
        others = record["vocabulary"] - len(follows) // 2
        assert said == [f"{others:,} others: together {100 * rest:.0f}\u00a0%"] * shown


@needs_browser
def test_the_cache_grows_by_one_row_for_each_beginning(reader, record):
    def rows(**state):
        drawn = reader.draw(**state)
        (line,) = [m["source"] for m in drawn.marks if m["key"] == "cache"]
        kept = {m["key"].split(",")[0] for m in drawn.marks if re.match(r"[kv]\d", m["key"])}
        return [int(x) for x in re.findall(r"\d+", line)], kept, drawn

    for t in range(2, 8):
        (own, without), kept, drawn = rows(step=t + 2)
        assert (own, without) == (t, t * (t + 1) // 2)
        assert kept == {f"{c}{place}" for c in "kv" for place in range(t)}
        assert len([c for c in drawn.cells("k") if c["key"][0] == "k"]) == 4 * t
    assert rows(step=5, **K4)[0] == [1 + 4 + 4, 1 + 2 * 4 + 3 * 4]
    assert rows(step=5, **K2)[0] == [1 + 2 + 2, 1 + 2 * 2 + 3 * 2]


@needs_browser
def test_a_beginning_without_an_heir_dies(reader):
    drawn = reader.draw(step=6, **K4)
    pills = [m for m in drawn.marks if m["kind"] == "token" and re.match(r"h\d", m["key"])]
    assert len(pills) == 1 + 4 * 4
    dead = {m["key"] for m in pills if m["bare"]}
    parents = {m["key"][1:] for m in drawn.marks if re.match(r"l\d", m["key"])}
    assert parents == {m["key"][1:] for m in pills} - {"0,0"}
    assert 2 <= len(dead) < len(pills) - 4
    assert "h0,0" not in dead
    assert not {m["key"] for m in pills if m["key"].startswith("h4,")} & dead
    over = reader.draw(step=LAST, **K4)
    pills = [m for m in over.marks if m["kind"] == "token" and re.match(r"h\d", m["key"])]
    winner = [m["word"] for m in pills if m["chosen"]]
    assert winner == ["[START]", "J'attends", "le", "bus", ".", "[END]"]


@needs_browser
def test_a_reader_begins_with_another_word_and_raises_k(reader):
    reader.dress(1280)
    reader.rest()
    caption = "document.querySelector('figcaption').textContent"
    tools = """[...document.querySelectorAll('.tools fieldset:not([hidden])')]
      .map((set) => set.dataset.option)"""
    choose = """(option, value) =>
      document.querySelector(`[data-option="${option}"] [value="${value}"]`).click()"""
    assert reader.evaluate(tools) == ["sentence", "mode"]
    assert reader.state()["step"] == 2  # it opens where the first word is to be chosen
    reader.tap("first:2")
    assert reader.state()["step"] == 3
    assert "You begin with J'attends" in reader.evaluate(caption)
    reader.evaluate("document.querySelector('.stage').focus()")
    reader.press("End")
    assert "J'attends le bus." in reader.evaluate(caption)
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    assert reader.state()["first"] == 0
    reader.call(choose, "mode", "beam")
    assert reader.evaluate(tools) == ["sentence", "mode", "k", "alpha"]
    for k, french in ((0, "Je suis impatiente"), (1, "J'ai hâte"), (2, "J'attends")):
        reader.call(choose, "k", k)
        reader.press("End")
        reader.evaluate("document.querySelector('.stage').focus()")
        reader.press("End")
        assert french in reader.evaluate(caption)
    reader.call(choose, "mode", "sampling")
    assert reader.evaluate(tools) == ["sentence", "mode", "heat", "cut", "draw"]
    assert reader.complaints == []


@needs_browser
def test_a_finger_may_touch_the_whole_row_of_a_first_word(reader):
    marks = reader.draw(step=3, width=358, **GREEDY).marks
    hits = [mark["hit"] for mark in marks if str(mark.get("act")).startswith("first:")]
    assert len(hits) == 6
    for hit, after in pairwise(hits):
        assert (hit["x"], hit["w"], hit["y"] + hit["h"]) == (0, 358, after["y"])


@needs_browser
def test_the_last_step_is_the_last_word(reader):
    """Nothing happens after the end of a search: the slider, the bar and the keys stop there."""
    reader.evaluate("document.querySelector('[title=\"Start again\"]').click()")
    bar = """() => {
      const root = document.querySelector('.explore'), slider = root.querySelector('[type=range]');
      slider.value = 99;
      slider.dispatchEvent(new Event('input'));
      const names = [...root.querySelectorAll('.chapters button')].filter((name) => !name.hidden);
      return [+slider.value, +slider.max, root.querySelector('[title="One step on"]').ariaDisabled,
        root.querySelector('.count').textContent, names.at(-1).textContent,
        root.querySelectorAll('.stage .pill.chosen').length > 2];
    }"""
    for mode, k, words in (("greedy", 0, 7), ("beam", 0, 7), ("beam", 2, 5), ("greedy", 2, 7)):
        reader.evaluate(f"location.hash = '#decoding:mode={mode}&k={k}&step=99'")
        reader.rest()
        assert reader.state()["step"] == words + 2
        end = [words + 2, words + 2, "true", f"{words + 3} / {words + 3}", str(words), True]
        assert reader.call(bar) == end, (mode, k)
    reader.evaluate("document.querySelector('[data-option=mode] [value=beam]').click()")
    assert reader.state()["step"] == 7  # of 5 words, where greedy stood at its 7th
    play = "document.querySelector('.explore .play')"
    reader.evaluate(f"{play}.click()")  # from the first step on, and no timer is left
    assert reader.state()["step"] == 0
    reader.evaluate(f"{play}.click()")


@needs_browser
def test_one_beam_is_greedy_and_says_so(reader):
    for step, says in ((3, "only the most probable word is kept"), (4, "The one beginning"),
                       (9, "just as probable")):  # fmt: skip
        one, greedy = (reader.draw(mode=mode, k=0, step=step) for mode in ("beam", "greedy"))
        assert says in one.caption
        assert "beginnings are" not in one.caption
        assert one.rows == greedy.rows
    assert "up to k = 4" in reader.draw(mode="beam", k=2, step=4).caption


@pytest.mark.slow
@needs_browser
def test_every_state_fits_and_none_breaks(reader):
    every = """(width) => { // all states: the highest stage, captions that repeat, what is broken
      const scene = scenes[0], found = { most: 0, broken: [], same: 0 };
      const count = (list) => list.map((_, i) => i), choices = {
        greedy: { first: [0, 1, 2, 3, 4, 5] }, beam: { k: [0, 1, 2], alpha: [0, 1] },
        sampling: { heat: [0, 1, 2], cut: [0, 1, 2], draw: [0, 1, 2] } };
      for (const sentence of [0, 1]) for (const [mode, all] of Object.entries(choices)) {
        let states = [{ sentence, mode }];
        for (const [key, values] of Object.entries(all))
          states = states.flatMap((s) => values.map((value) => ({ ...s, [key]: value })));
        for (const state of states) {
          const end = scene.last({ ...scene.start, ...state });
          const captions = count(scene.chapters).slice(0, end + 1).map((step) => {
            const whole = { ...scene.start, ...state, step };
            const { marks, height, caption } = scene.draw(whole, width);
            const keys = marks.flat(Infinity).filter(Boolean).map(({ key }) => key);
            const words = JSON.stringify(marks) + caption;
            if (new Set(keys).size < keys.length || /NaN|undefined|Infinity|[{}]/.test(caption)
              || /NaN|undefined/.test(words)) found.broken.push({ ...state, step });
            found.most = Math.max(found.most, height);
            return caption;
          });
          found.same += captions.length - new Set(captions).size;
        }
      }
      return found;
    }"""
    for width in (326, 700):
        found = reader.call(every, width)
        assert found["broken"] == []
        assert found["same"] == 0
        assert found["most"] <= 860
    for width in (1280, 782, 390, 320):
        reader.dress(width)
        reader.rest()
        assert reader.call(LOOK, 0, width == 782, width == 390) == []
    assert reader.call(RESTLESS, 0, 200) > 20
    assert reader.complaints == []


def test_every_caption_is_of_a_state_and_says_only_what_is_known():
    holes = set(re.findall(r"{(\w+)}", "".join(decoding_texts.CAPTIONS.values())))
    assert {"seen", "one", "p", "total", "greedy", "k", "score", "u", "T"} <= holes
    assert set(decoding_texts.CAPTIONS) == {
        "vector", "logits", "softmax", "heated", "not heated",
        "greedy first", "other first", "greedy", "greedy end", "other end",
        "one first", "one", "beam first", "beam", "ended", "beam end", "sampling", "sampling end",
        "cut off",
    }  # fmt: skip


def test_another_record_is_refused(monkeypatch):
    monkeypatch.setattr(results, "read", lambda name: '{"columns": ["from"]}')
    with pytest.raises(ValueError, match=r"Expected a record of .* Received: \['from'\]"):
        decoding()

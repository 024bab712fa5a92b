"""A digit is drawn and read: the page counts dots as NumPy does, and reads as Keras does."""

import importlib
import itertools
import json
import re

import numpy as np
import pytest
from browser import needs_browser
from drawn_digits import DRAWN, strokes
from explore_page import write
from keras import ops

from experiments import images as experiment
from nlp104.data import load_digits
from nlp104.figures import explore, results
from nlp104.figures.explore.digit_reader import Reader, weights

figure = importlib.import_module("nlp104.figures.explore.draw_digit")
IMAGES, LABELS = load_digits()
TEST = (898, 950, 998, 1500)
BOX = "document.querySelector('.sheet').getBoundingClientRect()"
CAPTION = "document.querySelector('figcaption').textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The figure on a page of its own, with some digits of the test."""
    made = explore.draw_digit([(LABELS[i], IMAGES[i]) for i in TEST])
    return write(tmp_path_factory.mktemp("digit") / "page.html", made)


def _parts(reader, page):
    """Open the page; what its scene computes with is then in `digit` and `read`."""
    reader.open(page)
    reader.evaluate(
        """(() => {
          const text = document.querySelector('script[type="application/json"]').textContent;
          globalThis.digit = nlp104.draw_digit;
          globalThis.read = digit.reader(JSON.parse(text).model);
        })()"""
    )


# --- from strokes to an image ---


def _dots(lines, fits):
    """32 × 32 dots of a drawing, in float64: the thickness is found by halving."""
    points = np.concatenate(lines)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, (wide, tall) = (low + high) / 2, high - low
    ends = [pair for line in lines for pair in itertools.pairwise(line)]
    ends += [(line[0], line[0]) for line in lines if len(line) == 1]
    starts, stops = (np.array(part) for part in zip(*ends, strict=True))
    dots = np.stack(np.meshgrid(np.arange(32) + 0.5, np.arange(32) + 0.5), axis=-1)

    def away(a, b):
        way = b - a
        square = np.maximum((way**2).sum(axis=-1), 1e-300)
        part = np.clip(((dots[:, :, None] - a) * way).sum(axis=-1) / square, 0, 1)
        nearest = a + part[..., None] * way
        return np.linalg.norm(dots[:, :, None] - nearest, axis=-1).min(axis=-1)

    if not fits:
        return away(32 * starts, 32 * stops) <= 2.4
    thick = 2.5
    with np.errstate(divide="ignore"):
        for _ in range(4):
            room = 32 - 2 * thick
            most = 1.6 * min(np.float64(room) / wide, np.float64(room) / tall)
            fills = np.array([max(1, 20 - 2 * thick), room]) / (wide, tall)
            scale = np.minimum(np.minimum(fills, most), 1e9)
            found = away((starts - middle) * scale + 16, (stops - middle) * scale + 16)
            few, many = 0.0, 64.0  # no dot of 313 is nearer; all are
            for _ in range(60):
                half = (few + many) / 2
                few, many = (few, half) if (found <= half).sum() >= 313 else (half, many)
            thick = many
    return found <= thick + 1e-9


def _image(lines, fits=True):
    return _dots(lines, fits).reshape(8, 4, 8, 4).sum(axis=(1, 3))


def _ours():
    """All drawings, by their names."""
    drawn = {f"{digit}-{i}": text for digit, all_ in DRAWN.items() for i, text in enumerate(all_)}
    odd = {"dash": "20,50 80,50", "dot": "40,40", "two": "10,10 20,20 / 90,95", "line": "9,9 9,90"}
    return {name: strokes(text) for name, text in (drawn | odd).items()}


@needs_browser
def test_strokes_become_the_images_that_numpy_counts(reader, page):
    _parts(reader, page)
    for name, lines in _ours().items():
        lines = [np.array(line) for line in lines]
        for fits in (True, False):
            made = reader.call("(s, fits) => digit.imageOf(s, fits)", _lists(lines), fits)
            counted = _image(lines, fits)
            assert np.abs(np.reshape(made, (8, 8)) - counted).sum() == 0, (name, fits)
            assert 0 <= counted.min() <= counted.max() <= 16


def _lists(lines):
    return [np.asarray(line).tolist() for line in lines]


def test_images_of_drawings_fill_the_square_as_those_of_the_data_do():
    """What `hand.js` is for: they touch both edges, are in the middle, and have so much ink."""
    ink = IMAGES.sum(axis=(1, 2), dtype=int)
    assert ink.mean() == pytest.approx(313, abs=1)
    assert (IMAGES[:, [0, 7]].max(axis=2) > 0).all()
    for digit, texts in DRAWN.items():
        for text in texts:
            image = _image([np.array(line) for line in strokes(text)])
            assert (image[[0, 7]].max(axis=1) > 0).all(), digit
            assert ink.min() <= image.sum() <= ink.max(), digit
            middle = (image.sum(axis=0) > 0).nonzero()[0]
            assert abs(middle[0] + middle[-1] - 7) <= 1, digit


@needs_browser
def test_a_moved_digit_is_the_same_where_it_is_fitted_only(reader, page):
    _parts(reader, page)
    seven = [np.array(line) / 100 for line in figure.SEVEN]
    aside = [0.5 * line + 0.45 for line in seven]
    image = "(s, fits) => digit.imageOf(s, fits)"
    one, other = (reader.call(image, _lists(lines), True) for lines in (seven, aside))
    assert np.abs(np.subtract(one, other)).sum() <= 4  # dots on an edge
    assert reader.call(image, _lists(seven), False) != reader.call(image, _lists(aside), False)


@needs_browser
@pytest.mark.parametrize("part", [0, 0.3, 0.5, 0.97, 1])
def test_a_part_of_a_drawing_is_that_part_of_its_length(reader, page, part):
    _parts(reader, page)
    lines = strokes(DRAWN[4][0])
    found = reader.call("(s, part) => digit.until(s, part)", lines, part)

    def length(lines):
        steps = [np.diff(line, axis=0) for line in lines if len(line) > 1]
        return sum(np.linalg.norm(step, axis=1).sum() for step in steps)

    assert length(found) == pytest.approx(part * length(lines), abs=1e-9)
    for line, whole in zip(found, lines, strict=False):
        np.testing.assert_allclose(line[:-1], whole[: len(line) - 1])


@needs_browser
def test_letters_of_the_address_hold_the_points(reader, page):
    _parts(reader, page)
    lines = [[(0, 0), (1, 1)], [(0.123, 0.987)]]
    code = reader.call("(s) => digit.codeOf(s)", lines)
    assert code == figure._code([[(100 * x, 100 * y) for x, y in line] for line in lines])
    assert re.fullmatch(r"(\.([\w-]{3})+)+", code)
    back = reader.call("(code) => digit.strokesOf(code)", code)
    for line, other in zip(lines, back, strict=True):
        np.testing.assert_allclose(line, other, atol=0.5 / 511 + 1e-9)


# --- from an image to an answer ---


def _seer():
    """The chapter's model with the weights that the page carries."""
    tensors = Reader(weights()).tensors
    model = experiment.Seer(experiment.CONFIG, 9)
    model(np.zeros((1, 8, 8), "float32"))
    places = tensors["places"]
    model.class_token.assign(np.zeros((1, 1, 48)))  # the first place holds it
    model.positions.table.assign(places)
    for layer, name in ((model.embedding, "embedding"), (model.to_classes, "to_classes")):
        layer.kernel.assign(tensors[f"{name}/kernel"].T)
        layer.bias.assign(tensors[f"{name}/bias"])
    for variable in model.encoder.weights:
        name = re.sub(r".*?encoder\w*/", "", variable.path)
        name = re.sub("_(kernel|bias)$", r"/\1", name)
        variable.assign(tensors[name].T.reshape(variable.shape))
    return model


@needs_browser
def test_the_page_reads_as_keras_does(reader, page):
    _parts(reader, page)
    model = _seer()
    chosen = IMAGES[list(TEST)]
    x = (experiment.patches(chosen) - experiment.MEAN) / experiment.SPREAD
    for order in (np.arange(8), np.array(figure.MIXED)):
        mixed = ops.convert_to_tensor(x[:, order], "float32")
        logits = ops.convert_to_numpy(model(mixed))
        first = ops.repeat(model.class_token, len(x), axis=0)
        tokens = model.positions(ops.concatenate([first, model.embedding(mixed)], axis=1))
        looks = ops.convert_to_numpy(model.encoder(tokens, return_attention_scores=True)[1][-1])
        for image, right, look in zip(chosen, logits, looks[:, :, 0], strict=True):
            found = reader.call(
                "(image, order) => read(image, order)", image.reshape(-1).tolist(), order.tolist()
            )
            np.testing.assert_allclose(found["logits"], right, atol=1e-4)
            np.testing.assert_allclose(found["looks"], look, atol=1e-5)
            others = look[:, 1:] / look[:, 1:].sum(axis=-1, keepdims=True)
            mean = reader.call("(looks) => digit.lookOf(looks)", found["looks"])
            np.testing.assert_allclose(mean, others.mean(axis=0), atol=1e-5)
            if order[0] == 0:
                ours = Reader(weights())(image)
                np.testing.assert_allclose(ours[0], right, atol=1e-4)
                np.testing.assert_allclose(ours[1], mean, atol=1e-5)


@needs_browser
def test_the_hand_of_these_tests_is_read(reader, page):
    """29 of 30, as `results/images/README.md` says; the other is an open 4, read as a 9."""
    _parts(reader, page)
    wrong = []
    for digit, texts in DRAWN.items():
        for text in texts:
            image = reader.call("(s) => digit.imageOf(s, true)", strokes(text))
            logits = reader.call("(image) => read(image, [0, 1, 2, 3, 4, 5, 6, 7])", image)[
                "logits"
            ]
            if np.argmax(logits) != digit:
                wrong.append((digit, int(np.argmax(logits))))
    assert wrong == [(4, 9)]


@pytest.mark.slow
def test_the_record_is_of_these_weights():
    record = json.loads(results.read("images/reader.json"))
    ours = Reader(weights())
    some = np.random.default_rng(104).choice(899, 40, replace=False)
    misread = [i for i in some if ours(IMAGES[898 + i])[0].argmax() != LABELS[898 + i]]
    assert set(misread) == set(record["misread"]) & set(some.tolist())
    assert record["six_bits"] == pytest.approx(1 - len(record["misread"]) / 899, abs=1e-4)
    assert len(record["accuracies"]) == len(record["seeds"])
    readme = (results.FOLDER / "images" / "README.md").read_text(encoding="utf-8")
    assert experiment.reader_line(record) in " ".join(readme.split())


def test_warped_images_keep_their_ink_and_stay_in_range():
    rng = np.random.default_rng(1)
    made = experiment.warped(IMAGES[:200], rng)
    assert made.shape == (200, 8, 8)
    assert made.min() >= 0
    assert made.max() <= 16
    ink = IMAGES[:200].sum(axis=(1, 2), dtype=float)
    kept = made.sum(axis=(1, 2)) / ink
    assert np.median(kept) == pytest.approx(1, abs=0.02)
    assert kept.min() > 0.8
    assert np.abs(made - IMAGES[:200]).mean() > 1  # none is as it was
    again = experiment.warped(IMAGES[:200], np.random.default_rng(1))
    np.testing.assert_array_equal(made, again)


# --- the figure ---


@needs_browser
def test_bars_and_shares_are_what_the_model_says(reader, page):
    reader.open(page)
    ours = Reader(weights())
    for number, index in enumerate(TEST):
        drawn = reader.draw(ink=f"test{number}")
        logits, looks = ours(IMAGES[index])
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        np.testing.assert_allclose(drawn.values[0], 100 * shares, atol=1e-2)
        texts = {mark["key"]: mark.get("source") for mark in drawn.marks}
        for patch, look in enumerate(looks):
            assert texts[f"look {patch}"] == f"{100 * look:.0f} %"
        best = shares.argmax()
        assert f"**{best}**, **{100 * shares[best]:.0f} %**" in drawn.caption
        assert ("It is a" in drawn.caption) == (best != LABELS[index])
        widths = [mark["w"] for mark in drawn.marks if mark["key"].startswith("bar ")]
        assert int(np.argmax(widths)) == best


@needs_browser
def test_dots_are_the_image_and_mixed_patches_keep_their_dots(reader, page):
    reader.open(page)
    own, mixed = (reader.draw(ink="test1", patches=order) for order in ("own", "mixed"))
    cut = experiment.patches(IMAGES[[TEST[1]]])[0]
    for drawn in (own, mixed):
        for mark in drawn.marks:
            if mark["key"].startswith("dot "):
                patch, pixel = map(int, mark["key"].split()[1:])
                full = max(m["w"] for m in drawn.marks if m["key"].startswith("dot "))
                ink = (mark["w"] / full) ** 2 * 16
                assert ink == pytest.approx(cut[patch, pixel], abs=1e-6)
    places = [
        {m["key"]: (round(m["y"]), round(m["x"])) for m in drawn.marks if m["key"][:6] == "patch "}
        for drawn in (own, mixed)
    ]
    order = sorted(places[1], key=places[1].get)
    assert [int(key.split()[1]) for key in order] == list(figure.MIXED)
    assert sorted(places[0].values()) == sorted(places[1].values())


@needs_browser
def test_a_digit_of_the_test_comes_row_by_row(reader, page):
    reader.open(page)
    for step in (0, 6, 12, 24):
        marks = reader.draw(step=step, ink="test0").marks
        rows = {int(m["key"].split()[1]) // 8 for m in marks if m["key"].startswith("given ")}
        assert rows == set(range(step // 3))


@needs_browser
def test_a_mouse_draws_and_the_model_reads(reader, page):
    reader.open(page, width=800)
    assert reader.state()["ink"] == "seven"
    _stroke(reader, [(0.5, 0.15), (0.5, 0.5), (0.5, 0.85)])
    assert _points(reader) == [pytest.approx([0.5, y], abs=0.01) for y in (0.15, 0.5, 0.85)]
    assert reader.evaluate(CAPTION).startswith("It reads a 1")
    assert "transform" not in reader.evaluate("document.querySelector('.sheet svg').innerHTML")
    _stroke(reader, [(0.2, 0.2), (0.8, 0.2)])  # one's own strokes stay
    assert reader.state()["ink"].count(".") == 2
    assert (
        reader.evaluate("document.querySelector('input[type=radio][value=seven]').checked") is False
    )
    reader.evaluate("document.querySelector('.pad button').click()")
    assert reader.state()["ink"] == "."
    assert reader.evaluate(CAPTION).startswith("Nothing is there.")
    assert reader.complaints == []


def _stroke(reader, points):
    """Down at the first point of the sheet, up at the last."""
    box = reader.evaluate(f"[{BOX}.left, {BOX}.top, {BOX}.width]")
    for number, (x, y) in enumerate(points):
        place = {"x": box[0] + x * box[2], "y": box[1] + y * box[2], "button": "left", "buttons": 1}
        kind = "mouseMoved" if number else "mousePressed"
        reader.ask("Input.dispatchMouseEvent", type=kind, clickCount=1, **place)
    reader.ask("Input.dispatchMouseEvent", type="mouseReleased", clickCount=1, **place)
    reader.rest()


def _points(reader):
    code = reader.state()["ink"]
    return reader.call("(code) => nlp104.draw_digit.strokesOf(code)", code)[-1]


@needs_browser
def test_a_finger_draws_and_does_not_scroll(reader, page):
    reader.open(page, width=390)
    reader.evaluate("document.body.style.paddingBottom = '2000px'; scrollTo(0, 60)")
    before = reader.evaluate("scrollY")
    left, top, side = reader.evaluate(f"[{BOX}.left, {BOX}.top, {BOX}.width]")

    def touch(kind, *points):
        points = [{"x": left + x * side, "y": top + y * side} for x, y in points]
        reader.ask("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    touch("touchStart", (0.5, 0.9))
    for y in (0.8, 0.6, 0.4, 0.2):
        touch("touchMove", (0.5, y))
    touch("touchEnd")
    reader.rest()
    assert reader.evaluate("scrollY") == before
    assert _points(reader)[-1] == pytest.approx([0.5, 0.2], abs=0.02)
    assert reader.complaints == []
    reader.dress()


@needs_browser
def test_a_keyboard_draws(reader, page):
    reader.open(page)
    reader.evaluate("document.querySelector('.sheet').focus()")
    reader.press("ArrowRight", " ", "ArrowDown", "ArrowDown", "ArrowDown", " ", "ArrowDown")
    x, y = 0.5 + 1 / 16, 0.2
    assert _points(reader) == [pytest.approx([x, y + k / 16], abs=0.002) for k in range(4)]
    assert reader.state()["step"] == 24  # on the sheet, arrows are no steps
    assert reader.evaluate(CAPTION).startswith("It reads a ")
    reader.evaluate(
        "document.querySelector('.sheet').dispatchEvent(new KeyboardEvent('keydown',"
        "{key: 'Delete', bubbles: true}))"
    )
    assert reader.state()["ink"] == "."
    reader.press("Escape")
    assert reader.evaluate("document.activeElement.className") == "stage"


@needs_browser
@pytest.mark.parametrize("width", [1280, 782, 390, 320])
def test_the_sheet_lies_on_its_frame_and_no_words_on_others(reader, page, width):
    reader.open(page, width=width)
    gap = reader.evaluate(
        f"""(() => {{
          const sheet = {BOX};
          const paper = document.querySelector('.stage .outline').getBoundingClientRect();
          return ['left', 'top', 'right', 'bottom'].map((side) => sheet[side] - paper[side]);
        }})()"""
    )
    assert np.abs(gap).max() < 1.5
    for address in ("", "step=5", "ink=test2&patches=mixed", "ink=scribble&sheet=raw", "ink=."):
        clashes, _ = reader.clashes(f"draw_digit:{address}")
        assert clashes == [], address


@needs_browser
@pytest.mark.parametrize("width", [782, 390, 320])
def test_nothing_moves_while_it_is_drawn(reader, page, width):
    reader.open(page, width=width)
    top = "document.querySelector('.bar').getBoundingClientRect().top"
    tops = set()
    for address in ("", "step=0", "step=7", "ink=test2", "ink=scribble&patches=mixed", "ink=."):
        reader.evaluate(f"location.hash = '#draw_digit:{address}'")
        reader.rest()
        tops.add(reader.evaluate(f"Math.round({top} + scrollY)"))
    assert len(tops) == 1


@needs_browser
def test_what_was_drawn_stands_in_the_address(reader, page):
    code = figure._code(figure.FOUR)
    reader.open(page, at=f"#draw_digit:ink={code}&sheet=raw")
    assert reader.state() == {"step": 24, "ink": code, "patches": "own", "sheet": "raw"}
    for wrong in ("nobody", ".AB*", "12"):
        reader.open(page, at=f"#draw_digit:ink={wrong}")
        assert reader.state()["ink"] == "seven"


@needs_browser
def test_the_still_is_what_the_page_shows_first(reader, page):
    _parts(reader, page)
    opened = [[(x / 100, y / 100) for x, y in line] for line in figure.SEVEN]
    code = figure._code(figure.SEVEN)
    made = reader.call("(code) => digit.imageOf(digit.strokesOf(code), true)", code)
    assert np.reshape(made, (8, 8)).tolist() == list(map(list, figure.SEVEN_IMAGE))
    assert len(opened) == 1
    said = reader.evaluate(CAPTION)
    best, share = re.search(r"reads an? (\d), (\d+) %", said).groups()
    alt = explore.draw_digit().alt
    assert f"It reads a {best}, {share}% sure." in alt
    for look in reader.evaluate(
        "[...document.querySelectorAll('.f-t-a')].map((text) => text.textContent)"
    ):
        assert look.removesuffix(" %") in alt or "tint" in look


def test_what_is_no_digit_is_refused():
    image = IMAGES[0]
    with pytest.raises(ValueError, match=r"shape \(8, 8\).*Received: shape \(4, 16\)"):
        explore.draw_digit([(0, image.reshape(4, 16))])
    with pytest.raises(ValueError, match=r"shape \(8, 8\).*Received: shape \(0,\)"):
        explore.draw_digit([(0, [])])
    with pytest.raises(ValueError, match=r"whole numbers from 0 to 16.*Received: 17\."):
        explore.draw_digit([(0, np.where(np.arange(64).reshape(8, 8) == 3, 17, 0))])
    with pytest.raises(ValueError, match=r"label from 0 to 9\. Received: 12"):
        explore.draw_digit([(12, image)])

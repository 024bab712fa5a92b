"""The figures: the right cells in the right places, readable, and no side effects."""

import gzip
import re
from itertools import pairwise

import keras
import matplotlib as mpl
import numpy as np
import pytest
from seen_colours import contrast

from nlp104.figures import explore, layouts, plots, style
from nlp104.figures.language import CONCEPTS, TOKENS, with_tokens

ROWS = ["l'", "animal", "n'", "a", "pas"]
COLUMNS = ["the", "animal", "did", "$not$"]
WEIGHTS = np.random.default_rng(4).dirichlet(np.ones(4), size=5)


def cells(axes):
    """The numbers that a matrix picture colours, as [rows, columns]."""
    return axes.collections[0].get_array().reshape(len(axes.get_yticks()), -1)


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# --- matrices ---


def test_heatmap_puts_each_token_beside_its_row_and_above_its_column():
    figure = plots.heatmap(
        WEIGHTS, ROWS, COLUMNS, title="Title", row_label="French", column_label="English"
    )
    (axes,) = figure.axes
    np.testing.assert_allclose(cells(axes), WEIGHTS)
    assert ticks(axes.yaxis) == ROWS
    assert ticks(axes.xaxis) == COLUMNS
    assert (axes.get_title(loc="left"), axes.get_ylabel(), axes.get_xlabel()) == (
        "Title",
        "French",
        "English",
    )


@pytest.mark.parametrize("concept", ["a", "p", "r"])
def test_a_matrix_has_the_colour_of_what_it_is_about(concept):
    for weights in (WEIGHTS, WEIGHTS > 0.2):
        axes = plots.heatmap(weights, ROWS, COLUMNS, concept=concept).axes[0]
        *colour, _ = axes.collections[0].to_rgba(1.0)
        np.testing.assert_allclose(colour, mpl.colors.to_rgb(CONCEPTS[concept][0]), atol=1e-6)
        hatched = [patch for patch in axes.patches if patch.get_hatch()]
        hidden = weights.dtype == bool and concept == "a"  # only a look can be forbidden
        assert len(hatched) == (np.sum(~weights) if hidden else 0)


def test_the_first_row_is_drawn_on_top():
    weights = np.zeros((5, 4))
    weights[0, 3] = 1.0
    figure = plots.heatmap(weights, ROWS, COLUMNS, annotate=False)
    top, bottom = (label.get_window_extent().y0 for label in figure.axes[0].get_yticklabels()[::4])
    assert top > bottom


@pytest.mark.parametrize("concept", CONCEPTS)
def test_each_number_stands_in_its_cell_and_can_be_read(concept):
    figure = plots.heatmap(WEIGHTS, ROWS, COLUMNS, concept=concept)
    (axes,) = figure.axes
    assert len(axes.texts) == WEIGHTS.size
    for text in axes.texts:
        column, row = np.floor(text.get_position()).astype(int)
        assert text.get_text() == f"{WEIGHTS[row, column]:.2f}"
        red, green, blue, alpha = axes.collections[0].to_rgba(WEIGHTS[row, column])
        for theme in range(2):  # the tint lies on the ground of the page
            red, green, blue = mpl.colors.to_rgb(TOKENS[concept][theme])
            ground = np.array(mpl.colors.to_rgb(TOKENS["bg"][theme]))
            seen = alpha * np.array([red, green, blue]) + (1 - alpha) * ground
            assert contrast(TOKENS["ink"][theme], seen) > 4.5


def test_whole_numbers_are_written_without_decimals():
    figure = plots.heatmap([[2.0, -1.0]], ["q"], ["a", "b"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["2", "−1"]


def test_large_matrices_have_a_colour_bar_and_no_numbers():
    figure = plots.heatmap(np.eye(12), ["r"] * 12, ["c"] * 12)
    axes, bar = figure.axes
    assert not axes.texts
    assert bar.get_ylim() == (0.0, 1.0)


def test_a_colour_bar_has_its_cells_colours_in_the_dark_too():
    figure = plots.heatmap(0.5 * np.eye(12), ["r"] * 12, ["c"] * 12)
    (bar,) = (part for part in figure.axes[1].collections if part.get_array() is not None)
    strongest = style.tint("a")(1 - 0.5 / layouts.STEPS)  # the middle of the last step
    np.testing.assert_allclose(
        bar.cmap(bar.norm(bar.get_array().ravel()[-1])), strongest, atol=0.01
    )
    assert figure.axes[1].get_yticks()[-1] <= 0.5  # numbers, not the edges of its steps
    html = style.to_html(figure, "A look.")
    assert "<image" not in html  # a picture of dots keeps the colours of the light page
    assert html.count("crispEdges") == 2  # half-transparent neighbours do not overlap


def test_masked_cells_are_hatched_and_may_hold_anything():
    mask = np.tril(np.ones((5, 4), bool))
    figure = plots.heatmap(np.where(mask, WEIGHTS, -np.inf), ROWS, COLUMNS, mask=mask)
    (axes,) = figure.axes
    covered = {(int(p.get_y()), int(p.get_x())) for p in axes.patches}
    assert covered == {tuple(cell) for cell in np.argwhere(~mask)}
    assert all(p.get_hatch() for p in axes.patches)
    assert len(axes.texts) == mask.sum()
    assert axes.collections[0].get_clim() == (0.0, WEIGHTS[mask].max())


def test_booleans_are_drawn_as_a_mask():
    mask = np.tril(np.ones((5, 4), bool))
    figure = plots.heatmap(mask, ROWS, COLUMNS)
    (axes,) = figure.axes
    covered = {(int(p.get_y()), int(p.get_x())) for p in axes.patches}
    assert covered == {tuple(cell) for cell in np.argwhere(~mask)}
    assert not axes.texts
    colours = axes.collections[0].to_rgba(axes.collections[0].get_array())
    np.testing.assert_allclose(
        colours[mask][:, :3] - mpl.colors.to_rgb(TOKENS["a"][0]), 0, atol=0.01
    )


def test_alignment_frames_the_cells_it_names():
    figure = plots.heatmap(WEIGHTS, ROWS, COLUMNS, alignment=[(0, 0), (4, 3)])
    frames = {(p.get_y(), p.get_x()) for p in figure.axes[0].patches}
    assert frames == {(0, 0), (4, 3)}


def test_signed_values_have_zero_at_the_middle_of_the_colours():
    figure = plots.heatmap([[-1.0, 0.0, 3.0]], ["q"], ["a", "b", "c"])
    image = figure.axes[0].collections[0]
    assert image.get_clim() == (-3.0, 3.0)
    negative, zero, positive = image.to_rgba(np.array([-3.0, 0.0, 3.0]))
    assert zero[3] < 0.05 < 0.5 < min(negative[3], positive[3])  # nothing to be seen in the middle
    assert negative[0] > negative[2]  # amber
    assert positive[2] > positive[1]  # purple


def test_limits_make_two_figures_comparable():
    one = plots.heatmap([[0.2, 0.1]], ["q"], ["a", "b"], limits=(0, 1)).axes[0].collections[0]
    other = plots.heatmap([[0.2, 0.8]], ["q"], ["a", "b"], limits=(0, 1)).axes[0].collections[0]
    assert one.to_rgba(0.2) == other.to_rgba(0.2)


def test_head_grid_draws_every_head_on_one_scale():
    heads = np.random.default_rng(0).dirichlet(np.ones(4), size=(6, 5))
    figure = plots.head_grid(heads, ROWS, COLUMNS, title="Six heads", alignment=[(1, 1)])
    *drawn, bar = figure.axes
    assert len(drawn) == 6
    for number, (axes, head) in enumerate(zip(drawn, heads, strict=True)):
        np.testing.assert_allclose(cells(axes), head)
        assert axes.get_title(loc="left") == f"head {number + 1}"
        assert axes.collections[0].get_clim() == (0.0, heads.max())
        assert [(p.get_y(), p.get_x()) for p in axes.patches] == [(1, 1)]
    np.testing.assert_allclose(bar.get_ylim(), (0.0, heads.max()))
    assert figure.get_suptitle() == "Six heads"


def test_head_grid_ignores_masked_values_when_it_chooses_the_scale():
    heads = np.full((2, 5, 4), 0.25)
    heads[:, :, 3] = np.inf
    mask = np.ones((5, 4), bool)
    mask[:, 3] = False
    figure = plots.head_grid(heads, ROWS, COLUMNS, mask=mask)
    assert figure.axes[0].collections[0].get_clim() == (0.0, 0.25)


# --- curves, bars, histograms ---


def test_curves_draw_what_they_are_given():
    figure = plots.curves(
        {
            "loss": [3.0, 2.0, 1.0],
            "measured": ([1, 10, 100], [1, 2, 3]),
            "theory": ([1, 9], [1, 1]),
        },
        points=["measured"],
        theory=["theory"],
        log="x",
        title="T",
        x_label="step",
        y_label="loss",
    )
    (axes,) = figure.axes
    loss, measured, theory = axes.lines
    np.testing.assert_array_equal(loss.get_xydata(), [[1, 3], [2, 2], [3, 1]])
    np.testing.assert_array_equal(measured.get_xydata(), [[1, 1], [10, 2], [100, 3]])
    assert (measured.get_linestyle(), measured.get_marker()) == ("None", "o")
    assert theory.get_linestyle() == "--"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["loss", "measured", "theory"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step", "loss")


def test_a_logarithmic_axis_names_the_places_that_were_measured():
    axes = plots.curves({"variance": ([8, 64, 512], [8, 64, 512])}, log="xy").axes[0]
    assert ticks(axes.xaxis) == ["8", "64", "512"]


def test_one_series_needs_no_legend():
    assert plots.curves({"loss": [1.0, 2.0]}).axes[0].get_legend() is None


def test_bars_stand_side_by_side_with_their_heights():
    figure = plots.bars({"a": [0.1, 0.9], "b": [0.5, 0.4]}, ["left", "right"])
    (axes,) = figure.axes
    heights = [[bar.get_height() for bar in group] for group in axes.containers]
    assert heights == [[0.1, 0.9], [0.5, 0.4]]
    assert ticks(axes.xaxis) == ["left", "right"]
    edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert all(end <= begin + 1e-9 for (_, end), (begin, _) in pairwise(edges))


def test_a_bar_that_is_nothing_says_so():
    axes = plots.bars({"a": [1.0, 0.0], "b": [1e-7, 0.01]}).axes[0]
    assert [(text.get_text(), text.xy[0]) for text in axes.texts] == [("0", 1.8), ("0", 1.2)]
    assert contrast(axes.texts[1].get_color(), plots.GROUND) > 4.5
    axes = plots.bars({"a": [-1.0, 0.0]}).axes[0]
    assert axes.texts[0].xycoords == "data"  # where zero is, not at the foot


def test_places_without_any_bar_say_so_once_and_missing_bars_say_nothing():
    axes = plots.bars({"a": [1.0, 0.0, np.nan], "b": [np.nan, 0.0, 2.0]}).axes[0]
    assert [(text.get_text(), text.xy[0]) for text in axes.texts] == [("0", 2.0)]
    many = plots.bars({"a": [1.0] + [0.0] * 199}).axes[0]
    assert not many.texts  # 199 of them would be a grey line
    none = plots.bars({"a": [np.nan, np.nan]}).axes[0]
    assert not none.texts


def test_names_that_would_meet_on_a_phone_stand_upright():
    long, short = ["longest of all", "random", "width 8", "width 4"], ["a", "b", "c", "d"]
    heads = [f"{layer}.{head}" for layer in range(1, 6) for head in range(1, 5)]
    for names, angle in ((long, 90), (short, 0), (heads, 90)):
        figure = plots.bars({"a": range(len(names))}, names)
        layouts.stack(figure)
        labels = figure.axes[0].get_xticklabels()
        assert {(label.get_rotation(), label.get_visible()) for label in labels} == {(angle, True)}


def test_numbers_that_would_meet_on_a_phone_are_fewer_and_do_not_turn():
    (axes,) = plots.curves({"a": (np.arange(121), np.arange(121))}).axes
    many = len(axes.get_xticks())
    layouts.stack(axes.figure)
    axes.figure.draw_without_rendering()
    numbers = axes.get_xticklabels()
    assert {label.get_rotation() for label in numbers} == {0}
    assert 4 <= len(numbers) < many
    boxes = [label.get_window_extent() for label in numbers]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    doubled = 1000 * 2 ** np.arange(8)
    (axes,) = plots.curves({"a": (doubled, doubled)}, log="x").axes  # each place has its number
    layouts.stack(axes.figure)
    shown = [label for label in axes.get_xticklabels() if label.get_visible()]
    assert [label.get_text() for label in shown] == ["1000", "4000", "16000", "64000"]
    assert {label.get_rotation() for label in shown} == {0}


def test_names_stand_at_the_ends_of_lines_instead_of_in_the_legend():
    lines = {"loss": [3, 0], "accuracy": [0, 1], "bound": [2, 2], "last": [1, 3]}
    ends = {"theory": ["bound"], "ends": ["bound", "last"], "on_top": ["accuracy"]}
    axes = plots.curves(lines, **ends).axes[0]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["loss", "accuracy"]
    names = {text.get_text(): (text.xy, text.get_ha()) for text in axes.texts}
    assert names == {"bound": ((2, 2), "right"), "last": ((2, 3), "left")}
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "--", "-"]
    crowded = plots.curves(lines | {"loss": [3, 2.4]}, **ends).axes[0]
    sides = [found.texts[0].get_va() for found in (axes, crowded)]
    assert (axes.texts[0].get_text(), sides) == ("bound", ["bottom", "top"])
    assert axes.lines[1].get_zorder() > axes.lines[0].get_zorder() > axes.lines[2].get_zorder()


def test_histogram_counts_like_numpy():
    sample = np.random.default_rng(0).normal(size=1000)
    figure = plots.histogram({"sample": sample}, bins=12)
    (outline,) = figure.axes[0].patches
    assert outline.get_xy()[:, 1].max() == np.histogram(sample, 12)[0].max()


def test_pictures_can_share_a_card():
    figure, axes = plots.grid(1, 2)
    assert plots.histogram({"a": [1.0, 2.0]}, axes=axes[0, 0]) is figure
    assert plots.heatmap([[1.0]], ["q"], ["k"], axes=axes[0, 1]) is figure
    assert len(figure.axes) == 2


def test_tensors_of_the_backend_are_accepted():
    tensor = keras.ops.convert_to_tensor(WEIGHTS, "float32")
    figure = plots.heatmap(tensor, ROWS, COLUMNS)
    np.testing.assert_allclose(cells(figure.axes[0]), WEIGHTS, rtol=1e-6)
    assert plots.curves({"loss": tensor[0]}).axes[0].lines


# --- bad input ---


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.heatmap(WEIGHTS, ROWS[:4], COLUMNS), r"shape \(4, 4\). Received: \(5, 4\)"),
        (lambda: plots.heatmap(WEIGHTS.T, ROWS, COLUMNS), r"shape \(5, 4\). Received: \(4, 5\)"),
        (lambda: plots.heatmap(WEIGHTS, ROWS, COLUMNS, mask=[[True]]), r"'mask' must have shape"),
        (
            lambda: plots.heatmap(WEIGHTS, ROWS, COLUMNS, concept="x"),
            "Expected concept: one of q, ",
        ),
        (lambda: plots.heatmap([[np.nan, 1.0]], ["q"], ["a", "b"]), "'weights' must be finite"),
        (lambda: plots.head_grid(WEIGHTS, ROWS, COLUMNS), r"shape \(5, 5, 4\). Received: \(5, 4\)"),
        (lambda: plots.head_grid([[[np.nan]]], ["q"], ["k"]), "'weights' must be finite"),
        (lambda: plots.curves({"loss": [1.0, np.inf]}), "'loss' must be finite. Received: 1 NaN"),
        (
            lambda: plots.curves({"loss": ([1, 2], [1])}),
            r"'loss' must have shape \(2,\). Received: \(1,\)",
        ),
        (lambda: plots.bars({"a": [1, 2]}, ["x"]), r"'a' must have shape \(1,\). Received: \(2,\)"),
        (lambda: plots.histogram({"a": [np.nan]}), "'a' must be finite"),
        (lambda: plots.histogram({}), "at least one series"),
        (lambda: plots.curves({}), "at least one series"),
        (lambda: plots.bars({}), "at least one series"),
        (lambda: plots.curves({"a": []}), "'a' must hold numbers. Received: none"),
        (lambda: plots.heatmap(np.zeros((0, 0)), [], []), "'weights' must hold numbers"),
        (lambda: plots.curves({str(i): [1, 2] for i in range(7)}), "at most 6 series. Received: 7"),
        (
            lambda: plots.head_grid(WEIGHTS[None].repeat(2, 0), ROWS, COLUMNS, names=["one"]),
            r"a name for each of 2 heads\. Received: 1\.",
        ),
        (
            lambda: plots.curves({"a": [1, 2], "b": [2, 1]}, colors={"a": plots.KEY}),
            r"a colour of each series\. Received: none of 'b'\.",
        ),
        (lambda: plots.bars({"a": [1]}, colors={"b": plots.KEY}), "none of 'a'"),
        (
            lambda: plots.show(plots.curves({"a": [1, 2]}), alt=" "),
            r"alt must say in words .*\. Received: an empty text",
        ),
    ],
)
def test_bad_input_is_refused_in_words(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


# --- the house style ---


@pytest.mark.slow
def test_show_displays_two_layouts_with_the_same_words(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda *args, **kwargs: shown.append((args, kwargs))
    )
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=(8, 8))
    tokens = ["the", "animal", "did", "not", "cross", "the", "wide", "street"]
    plots.show(plots.head_grid(weights, tokens, tokens, title="Eight heads"), alt='Eight "heads".')
    (((data,), options),) = shown
    assert options == {"raw": True}
    assert data["text/plain"] == 'Eight "heads".'
    page = data["text/html"]
    assert re.findall(r'class="plot (\w+)" role="img" aria-label="([^"]*)"', page) == [
        ("wide", "Eight &quot;heads&quot;."),
        ("narrow", "Eight &quot;heads&quot;."),
    ]
    assert len(gzip.compress(page.encode())) < 40_000
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def widths(figure):
    return [
        int(width) for width in re.findall(r'style="width:(\d+)px"', style.to_html(figure, "x"))
    ]


def test_a_phone_gets_a_layout_of_its_own_and_no_page_one_that_is_too_wide():
    figure, axes = plots.grid(1, 3, size=(12.0, 3.0))
    for place in axes[0]:
        plots.heatmap(np.eye(4), "abcd", "abcd", axes=place)
    wide, narrow = widths(figure)
    assert wide <= 730
    assert narrow <= 360
    places = [place.get_window_extent() for place in axes[0]]  # the last layout: the phone's
    assert places[0].y0 > places[1].y1 > places[1].y0 > places[2].y1
    assert min(place.width for place in places) > 180


@pytest.mark.slow
def test_on_a_phone_small_heads_stand_in_pairs_above_their_scale():
    tokens = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=(8, 8))
    for count, across in ((8, 2), (2, 1)):
        title = "What there is to see in all of them"
        figure = plots.head_grid(weights[:count], tokens, tokens, title=title)
        panels, (bar,) = figure.axes[:-1], figure.axes[-1:]
        assert bar.get_position().x0 > panels[-1].get_position().x1  # on a page it stands beside
        style.to_html(figure, "x")
        panels, bar = figure.axes[:-1], figure.axes[-1]
        rows = sorted({round(place.get_position().y0, 3) for place in panels}, reverse=True)
        assert len(panels) == count == across * len(rows)
        (above,) = figure.texts
        assert above.get_window_extent().x1 <= figure.bbox.x1
        assert above.get_text().replace("\n", " ") == title
        if across == 2:
            assert bar.get_tightbbox().y1 < panels[-1].get_window_extent().y0
        for number, place in enumerate(panels):
            assert round(place.get_position().y0, 3) == rows[number // across]
            assert bool(place.get_yticklabels()) == (number % across == 0)
            left = place.get_tightbbox()
            assert left.x0 >= figure.bbox.x0
            assert all(
                left.x1 <= other.get_tightbbox().x0
                for other in panels[number + 1 : number + across - number % across]
            )


def narrow_numbers(weights):
    """The title of an annotated matrix on a phone, and what its cells say there."""
    names = [f"w{i}" for i in range(weights.shape[1])]
    figure = plots.heatmap(weights, names[: len(weights)], names, title="Weights")
    style.to_html(figure, "x")
    (axes,) = figure.axes
    return axes.get_title(loc="left"), [text.get_text() for text in axes.texts]


def test_on_a_phone_numbers_fit_their_cells():
    row = [0.98, 0.02, 0.0, 1.0, -0.25]
    assert narrow_numbers(np.array([row]))[1] == ["0.98", "0.02", "0.00", "1.00", "−0.25"]
    written = ["Weights", [".98", ".02", ".00", "1", "−.25", ".00", ".00", ".00"]]
    assert list(narrow_numbers(np.array([row + 3 * [0.0]]))) == written
    shares = np.array([[0.98, 0.02, 0.0, 1.0, 0.05, 0.0, 0.0, 0.0, 0.5]])
    percent = ["98", "", "", "100", "5", "", "", "", "50"]
    assert list(narrow_numbers(shares)) == ["Weights (in %)", percent]


def test_on_a_phone_long_names_leave_a_curve_its_height():
    label = "a name that is much longer than its panel is high"
    figure = plots.bars({"a": [1, 2]}, ["a long name below the bar"] * 2, y_label=label)
    figure.axes[0].tick_params(axis="x", rotation=90)
    style.to_html(figure, "x")
    (axes,) = figure.axes
    assert axes.bbox.height / figure.dpi > 1.3
    assert axes.yaxis.label.get_window_extent().height <= 1.1 * axes.bbox.height


def test_a_long_name_in_a_legend_leaves_room_for_the_curves():
    names = [f"the {word} sentences, with one vector of the others" for word in ("first", "last")]
    figure = plots.curves({name: [0.0, 1.0] for name in names})
    style.to_html(figure, "x")
    (place,) = figure.axes
    legend = place.get_legend()
    assert place.get_window_extent().width > 180
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert [text.get_text().replace("\n", " ") for text in legend.get_texts()] == names


def test_letters_can_be_read_on_the_narrowest_phone():
    figure = plots.curves({"loss": [2.0, 1.0]}, x_label="step", title="It falls")
    narrow = style.to_html(figure, "x").split("plot narrow")[1]
    (wide,) = re.findall(r'viewBox="0 0 ([\d.]+)', narrow)
    sizes = [float(size) for size in re.findall(r"font(?:-size)?:[^;\"]*?([\d.]+)px", narrow)]
    assert len(sizes) > 5
    assert min(sizes) * 288 / float(wide) > 11  # the column of a page that is 320 pixels wide


@pytest.mark.parametrize(("columns", "text"), [(4, "0.25"), (8, ".12"), (9, "11")])
def test_numbers_leave_out_a_zero_where_a_phone_has_no_room_for_it(columns, text):
    names = [str(number) for number in range(columns)]
    figure = plots.heatmap(np.full((2, columns), 1 / columns), ["one", "two"], names)
    full = f"{1 / columns:.2f}"
    assert {label.get_text() for label in figure.axes[0].texts} == {full}
    style.to_html(figure, "x")
    assert {label.get_text() for label in figure.axes[0].texts} == {text}
    boxes = [label.get_window_extent() for label in figure.axes[0].texts[:columns]]
    assert all(one.x1 <= next_one.x0 for one, next_one in pairwise(boxes))


def test_where_not_even_three_characters_fit_next_to_nothing_is_left_out():
    weights = np.full((1, 12), 0.01)
    weights[0, :3] = 0.0, 0.42, 0.47
    figure = plots.heatmap(weights, ["it"], [str(number) for number in range(12)], annotate=True)
    (axes,) = figure.axes
    axes.text(0, 0, "near: 0.8")  # no number of a cell
    style.to_html(figure, "x")
    assert [label.get_text() for label in axes.texts] == ["", "42", "47", *[""] * 9, "near: 0.8"]


def test_a_curve_keeps_its_colour_from_figure_to_figure():
    colors = {"one": style.KEY, "another": style.QUERY}
    (axes,) = plots.curves({"another": [1, 2], "one": [2, 1]}, colors=colors).axes
    drawn = {line.get_label(): line.get_color() for line in axes.lines}
    in_legend = [line.get_color() for line in axes.get_legend().get_lines()]
    assert drawn == colors
    assert in_legend == [style.QUERY, style.KEY]


def test_the_scale_of_colours_keeps_its_name_on_a_phone():
    figure = plots.heatmap(WEIGHTS, ROWS, COLUMNS, annotate=False)
    _, bar = figure.axes
    bar.set_ylabel("how sure")
    drawings = re.findall(r"<svg.*?</svg>", style.to_html(figure, "x"), re.DOTALL)
    assert [drawing.count(">how sure<") for drawing in drawings] == [1, 1]


def test_what_has_no_colour_of_its_own_wears_that_of_no_concept():
    concepts = {
        style.QUERY,
        style.KEY,
        style.VALUE,
        style.ATTENTION,
        style.POSITION,
        style.RESIDUAL,
    }
    series = {str(number): [number, 1] for number in range(6)}
    (axes,) = plots.curves(series).axes
    drawn = [line.get_color() for line in axes.lines]
    assert len(set(drawn)) == 6
    assert not concepts & set(drawn)


def test_bars_have_the_colours_of_their_concepts():
    colors = {"scores": style.ATTENTION, "vocabulary": style.INK}
    (axes,) = plots.bars({"vocabulary": [0.0, 2.0], "scores": [1.0, 3.0]}, colors=colors).axes
    drawn = {
        group.get_label(): mpl.colors.to_hex(group[0].get_facecolor()) for group in axes.containers
    }
    assert drawn == {name: mpl.colors.to_hex(color) for name, color in colors.items()}
    assert [text.get_color() for text in axes.texts] == [style.INK]  # a zero has its bar's


def test_on_a_phone_a_legend_stands_below_its_panel_where_no_curve_runs():
    figure, axes = plots.grid(1, 2, size=(9.6, 3.4))
    series = {"one": [0, 9], "another": [9, 0], "a third": [4, 5]}
    plots.curves(series, x_label="step", axes=axes[0, 0])
    plots.bars(series, ["a long name", "another long name"], axes=axes[0, 1])
    axes[0, 1].tick_params(axis="x", rotation=50)
    style.to_html(figure, "x")
    for place in axes[0]:
        legend = place.get_legend().get_window_extent()
        assert legend.y1 <= place.xaxis.get_tightbbox().y0
        assert legend.y0 >= figure.bbox.y0
        assert place.get_window_extent().height > 120
    lowest = axes[0, 0].get_legend().get_window_extent().y0
    assert lowest > axes[0, 1].get_tightbbox().y1  # and does not reach into the next panel


def test_crowded_names_of_columns_stand_upright_on_a_phone_and_may_be_empty():
    figure = plots.heatmap(np.eye(20), [""] * 20, [f"name{i}" for i in range(20)])
    style.to_html(figure, "x")
    assert {label.get_rotation() for label in figure.axes[0].get_xticklabels()} == {90.0}
    assert "<svg" in style.to_html(plots.heatmap(np.eye(3), [""] * 3, [""] * 3), "x")


def test_long_titles_are_broken_before_the_next_panel():
    figure, axes = plots.grid(1, 2, size=(7.0, 3.0))
    title = "A title that says at some length what there is to see in this panel"
    for place in axes[0]:
        plots.curves({"a": [1, 2]}, title=title, axes=place)
    style.to_html(figure, "x")
    for place in axes[0]:
        words = place.get_title(loc="left")
        assert "\n" in words
        assert " ".join(words.split()) == title


def test_letters_are_those_of_the_page_and_names_do_not_meet_on_it():
    page = style.to_html(plots.curves({"a": [1, 2], "$\\sqrt{d}$": [2, 1]}), "x")
    families = set(re.findall(r"<text[^>]*font-family: ([^;\"]*)", page))
    assert not families
    assert re.findall(r"<tspan[^>]*font-family: ([^;\"]*)", page)
    wide, narrow = (set(re.findall(r' id="([^"]*)"', part)) for part in page.split("plot narrow"))
    assert wide
    assert not wide & narrow


def test_the_same_figure_gives_the_same_page():
    one, other = (
        style.to_html(plots.heatmap(WEIGHTS, ROWS, COLUMNS, title="T"), "x") for _ in range(2)
    )
    assert one == other


@pytest.mark.parametrize("settings", [{}, {"font.size": 30.0, "axes.facecolor": "red"}])
def test_the_readers_settings_change_nothing_and_are_not_changed(settings):
    plain = style.to_html(plots.curves({"a": [1, 2]}, title="T"), "x")
    with mpl.rc_context(settings):
        before = dict(mpl.rcParams)
        assert style.to_html(plots.curves({"a": [1, 2]}, title="T"), "x") == plain
        assert dict(mpl.rcParams) == before


def test_no_figure_stays_open_and_the_backend_is_left_alone():
    from matplotlib import pyplot

    backend = mpl.get_backend()
    style.to_html(plots.heatmap(WEIGHTS, ROWS, COLUMNS), "x")
    assert pyplot.get_fignums() == []
    assert mpl.get_backend() == backend


def test_the_weights_colours_run_evenly_from_nothing_to_full():
    steps = np.diff(style.tint("a")(np.linspace(0, 1, 65))[:, 3])
    assert steps.min() > 0
    assert steps.max() < 2 * steps.mean()


def test_every_light_colour_is_one_token():
    light = [values[0] for name, values in TOKENS.items() if name != "cap"]
    assert len(set(light)) == len(light)
    assert with_tokens("fill: #0A66C2; stroke: #123456") == (
        "fill: var(--q-line, #0a66c2); stroke: #123456"
    )


@pytest.mark.parametrize("name", ["evolution", "heads", "paths", "softmax_lab"])
def test_figures_to_play_with_are_made_on_every_backend(name):
    assert getattr(explore, name)().html


def test_a_large_matrix_on_a_phone_names_every_second_row_and_has_its_scale_below():
    names = [f"{n}" for n in range(20)]
    for count, every in ((20, 2), (10, 1)):
        figure = plots.heatmap(np.eye(count), names[:count], names[:count], annotate=False)
        layouts.stack(figure)
        matrix, bar = figure.axes
        for axis in (matrix.xaxis, matrix.yaxis):
            seen = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
            assert seen == names[:count:every]
        assert bar.get_position().y1 < matrix.get_position().y0

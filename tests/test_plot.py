"""The figures: the right cells in the right places, readable, and no side effects."""

import base64
import io
from itertools import combinations, pairwise

import keras
import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from nlp104.figures import plots, style

ROWS = ["l'", "animal", "n'", "a", "pas"]
COLUMNS = ["the", "animal", "did", "$not$"]
WEIGHTS = np.random.default_rng(4).dirichlet(np.ones(4), size=5)


def cells(axes):
    """The numbers that a matrix picture colours, as [rows, columns]."""
    return axes.collections[0].get_array().reshape(len(axes.get_yticks()), -1)


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def cell_pixels(figure, axes, row, column):
    """The colour in the middle of the upper left quarter of a cell, as it is displayed."""
    picture = Image.open(io.BytesIO(style.to_png(figure))).convert("RGB")
    x, y = axes.transData.transform((column + 0.2, row + 0.2))
    return np.array(picture.getpixel((int(x), picture.height - int(y)))) / 255


def lightness(rgb):
    """CIE L* of sRGB colours [..., 3]."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


def contrast(one, other):
    def luminance(color):
        return ((lightness(np.array(mpl.colors.to_rgb(color))) + 16) / 116) ** 3

    high, low = sorted([luminance(one), luminance(other)], reverse=True)
    return (high + 0.05) / (low + 0.05)


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


def test_the_first_row_is_drawn_on_top():
    weights = np.zeros((5, 4))
    weights[0, 3] = 1.0
    figure = plots.heatmap(weights, ROWS, COLUMNS, annotate=False)
    dark = cell_pixels(figure, figure.axes[0], 0, 3)
    light = cell_pixels(figure, figure.axes[0], 4, 0)
    assert lightness(dark) < 30 < 90 < lightness(light)
    top, bottom = (label.get_window_extent().y0 for label in figure.axes[0].get_yticklabels()[::4])
    assert top > bottom


def test_each_number_stands_in_its_cell_and_can_be_read():
    figure = plots.heatmap(WEIGHTS, ROWS, COLUMNS)
    (axes,) = figure.axes
    assert len(axes.texts) == WEIGHTS.size
    for text in axes.texts:
        column, row = np.floor(text.get_position()).astype(int)
        assert text.get_text() == f"{WEIGHTS[row, column]:.2f}"
        assert contrast(text.get_color(), axes.collections[0].to_rgba(WEIGHTS[row, column])) > 3.5


def test_whole_numbers_are_written_without_decimals():
    figure = plots.heatmap([[2.0, -1.0]], ["q"], ["a", "b"])
    assert [text.get_text() for text in figure.axes[0].texts] == ["2", "-1"]


def test_large_matrices_have_a_colour_bar_and_no_numbers():
    figure = plots.heatmap(np.eye(12), ["r"] * 12, ["c"] * 12)
    axes, bar = figure.axes
    assert not axes.texts
    assert bar.get_ylim() == (0.0, 1.0)


def test_masked_cells_are_grey_and_may_hold_anything():
    mask = np.tril(np.ones((5, 4), bool))
    figure = plots.heatmap(np.where(mask, WEIGHTS, -np.inf), ROWS, COLUMNS, mask=mask)
    (axes,) = figure.axes
    covered = {(int(p.get_y()), int(p.get_x())) for p in axes.patches}
    assert covered == {tuple(cell) for cell in np.argwhere(~mask)}
    assert len(axes.texts) == mask.sum()
    assert axes.collections[0].get_clim() == (0.0, WEIGHTS[mask].max())


def test_booleans_are_drawn_as_a_mask():
    mask = np.tril(np.ones((5, 4), bool))
    figure = plots.heatmap(mask, ROWS, COLUMNS)
    (axes,) = figure.axes
    covered = {(int(p.get_y()), int(p.get_x())) for p in axes.patches}
    assert covered == {tuple(cell) for cell in np.argwhere(~mask)}
    assert not axes.texts
    red, _, blue = cell_pixels(figure, axes, 1, 1)
    assert blue > red + 0.3


def test_alignment_frames_the_cells_it_names():
    figure = plots.heatmap(WEIGHTS, ROWS, COLUMNS, alignment=[(0, 0), (4, 3)])
    frames = {(p.get_y(), p.get_x()) for p in figure.axes[0].patches}
    assert frames == {(0, 0), (4, 3)}


def test_signed_values_have_zero_at_the_middle_of_the_colours():
    figure = plots.heatmap([[-1.0, 0.0, 3.0]], ["q"], ["a", "b", "c"])
    image = figure.axes[0].collections[0]
    assert image.get_clim() == (-3.0, 3.0)
    negative, zero, positive = image.to_rgba(np.array([-3.0, 0.0, 3.0]))[:, :3]
    assert np.ptp(zero) < 0.02
    assert negative[0] > negative[2]  # orange
    assert positive[2] > positive[0]  # purple


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
        (lambda: plots.heatmap(WEIGHTS, ROWS[:4], COLUMNS), r"shape \(4, 4\), got \(5, 4\)"),
        (lambda: plots.heatmap(WEIGHTS.T, ROWS, COLUMNS), r"shape \(5, 4\), got \(4, 5\)"),
        (lambda: plots.heatmap(WEIGHTS, ROWS, COLUMNS, mask=[[True]]), r"'mask' must have shape"),
        (lambda: plots.heatmap([[np.nan, 1.0]], ["q"], ["a", "b"]), "'weights' must be finite"),
        (lambda: plots.head_grid(WEIGHTS, ROWS, COLUMNS), r"shape \(5, 5, 4\), got \(5, 4\)"),
        (lambda: plots.head_grid([[[np.nan]]], ["q"], ["k"]), "'weights' must be finite"),
        (lambda: plots.curves({"loss": [1.0, np.inf]}), "'loss' must be finite, got 1 NaN"),
        (
            lambda: plots.curves({"loss": ([1, 2], [1])}),
            r"'loss' must have shape \(2,\), got \(1,\)",
        ),
        (lambda: plots.bars({"a": [1, 2]}, ["x"]), r"'a' must have shape \(1,\), got \(2,\)"),
        (lambda: plots.histogram({"a": [np.nan]}), "'a' must be finite"),
        (lambda: plots.curves({str(i): [1, 2] for i in range(7)}), "6 series, got 7"),
        (lambda: plots.show(plots.curves({"a": [1, 2]}), alt=" "), "alt must say in words"),
    ],
)
def test_bad_input_is_refused_in_words(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


# --- the house style ---


def test_show_displays_an_opaque_small_png_with_its_words(monkeypatch):
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda *args, **kwargs: shown.append((args, kwargs))
    )
    weights = np.random.default_rng(0).dirichlet(np.ones(8), size=(8, 8))
    tokens = ["the", "animal", "did", "not", "cross", "the", "wide", "street"]
    plots.show(plots.head_grid(weights, tokens, tokens, title="Eight heads"), alt="Eight heads.")
    (((data,), options),) = shown
    assert options == {"metadata": {"image/png": {"alt": "Eight heads."}}, "raw": True}
    assert data["text/plain"] == "Eight heads."
    png = base64.b64decode(data["image/png"])
    assert len(png) < 60_000
    picture = Image.open(io.BytesIO(png))
    assert "transparency" not in picture.info
    corner = np.array(picture.convert("RGB").getpixel((5, 5))) / 255
    np.testing.assert_allclose(corner, mpl.colors.to_rgb(style.CARD), atol=0.02)


def test_the_same_figure_gives_the_same_bytes():
    one, other = (style.to_png(plots.heatmap(WEIGHTS, ROWS, COLUMNS, title="T")) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("settings", [{}, {"font.size": 30.0, "axes.facecolor": "red"}])
def test_the_readers_settings_change_nothing_and_are_not_changed(settings):
    plain = style.to_png(plots.curves({"a": [1, 2]}, title="T"))
    with mpl.rc_context(settings):
        before = dict(mpl.rcParams)
        assert style.to_png(plots.curves({"a": [1, 2]}, title="T")) == plain
        assert dict(mpl.rcParams) == before


def test_no_figure_stays_open_and_the_backend_is_left_alone():
    from matplotlib import pyplot

    backend = mpl.get_backend()
    style.to_png(plots.heatmap(WEIGHTS, ROWS, COLUMNS))
    assert pyplot.get_fignums() == []
    assert mpl.get_backend() == backend


def test_the_weights_colours_run_evenly_from_light_to_dark():
    shades = lightness(style.WEIGHTS(np.linspace(0, 1, 65))[:, :3])
    steps = -np.diff(shades)
    assert steps.min() > 0
    assert steps.max() < 2 * steps.mean()


# Machado, Oliveira & Fernandes (2009): what a dichromat sees, on linear RGB.
SEEN_BY = {
    "protanope": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranope": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanope": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    "most people": np.eye(3),
}


@pytest.mark.parametrize("eye", SEEN_BY)
def test_lines_can_be_told_apart_by_every_eye(eye):
    linear = np.array([mpl.colors.to_rgb(color) for color in style.PALETTE]) ** 2.2
    seen = np.clip(linear @ np.array(SEEN_BY[eye]).T, 0, 1) ** (1 / 2.2)
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(one - other) > 0.1


def test_words_on_the_card_can_be_read():
    assert contrast(style.INK, style.CARD) > 12

"""Chapters as a stranger runs them: the copy that is run, and what counts as a changed version."""

import nbformat
import pytest

from tools import colab, notebooks


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_the_copy_installs_the_wheel_and_is_else_the_chapter(path, tmp_path):
    wheel = tmp_path / "nlp104-0.1.0-py3-none-any.whl"
    copy = nbformat.read(colab.stranger(path, tmp_path, wheel), as_version=4)
    whole = nbformat.read(path, as_version=4)
    code = [
        [cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in (whole, copy)
    ]
    setup = code[1][0]
    assert f"nlp104 @ {wheel.as_uri()}" in setup.source
    assert "git+" not in setup.source
    assert setup.metadata.tags == ["nbval-ignore-output"]
    assert code[0][1:] == code[1][1:]


def test_another_first_cell_is_refused(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import nlp104")])
    path = tmp_path / "chapter.ipynb"
    nbformat.write(notebook, path)
    with pytest.raises(ValueError, match="Expected a first cell that installs git"):
        colab.stranger(path, tmp_path, tmp_path / "a.whl")


def test_a_layer_sees_this_environment_and_keeps_what_it_installs(tmp_path):
    python, own = colab.layer(tmp_path / "layer")
    assert python.exists()
    assert colab.shadowed(own) == []
    for name in ("keras", "heard-of-nowhere"):
        (own / f"{name.replace('-', '_')}-1.dist-info").mkdir()
        record = own / f"{name.replace('-', '_')}-1.dist-info" / "METADATA"
        record.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    assert colab.shadowed(own) == ["keras"]


def test_it_does_not_run_where_the_package_is_installed_already(monkeypatch):
    monkeypatch.setattr(colab, "OFFLINE", ["env"])
    monkeypatch.setattr(colab, "packages", lambda folder: {"nlp104"})
    with pytest.raises(SystemExit, match="without nlp104"):
        colab.main([])

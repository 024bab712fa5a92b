"""The page "Where things are" is what the script makes, and leads everywhere."""

import pytest

from tools import concepts, imports, notebooks

CONCEPTS = concepts.concepts()


def test_the_stored_page_is_what_the_script_makes():
    stored = concepts.PAGE.read_text(encoding="utf-8")
    assert stored == concepts.page(), "it is old: .venv/bin/python -m tools.concepts"


def test_every_room_is_there():
    rooms = {module.split(".")[1] for module in concepts.FILES if module.count(".") > 1}
    assert concepts.DECLARED.keys() == rooms


def test_every_module_is_reached():
    reached = {concepts.module_of(concept.name) for concept in CONCEPTS}
    # A package's __init__ passes on what its modules hold.
    passing = {name for name, path in concepts.FILES.items() if path.name == "__init__.py"}
    alone = {f"nlp104.{name}" for name in imports.ALONE}
    assert concepts.FILES.keys() - reached - passing == concepts.HELPERS.keys() | alone
    assert not reached & concepts.HELPERS.keys()
    assert concepts.FILES.keys() >= set(concepts.HELPERS.values())


def test_every_chapter_teaches_something():
    taught = {section.partition("#")[0] for concept in CONCEPTS for section in concept.sections}
    chapters = [path.relative_to(concepts.ROOT / "book") for path in notebooks.chapters()]
    assert taught == {chapter.with_suffix("").as_posix() for chapter in chapters}
    assert all("#" in section for concept in CONCEPTS for section in concept.sections)


@pytest.mark.parametrize("name", ["nlp104.attention.no_such_mask", "nlp104.no_such_room.mask"])
def test_a_name_that_is_gone_is_an_error(name):
    with pytest.raises(AttributeError, match="no_such"):
        concepts.module_of(name)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("nlp104.attention.causal_mask", "nlp104.attention.masks"),
        ("nlp104.decoding.greedy", "nlp104.decoding.greedy"),
        ("nlp104.training.train", "nlp104.training.loop"),
        ("nlp104.data.Tokenizer.train", "nlp104.data.tokenizer"),
        ("nlp104.training.settings", "nlp104.training.settings"),
    ],
)
def test_a_name_leads_to_the_module_that_defines_it(name, module):
    assert concepts.module_of(name) == module


def test_the_reference_is_read_as_sphinx_reads_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        """# Two rooms
```{eval-rst}
.. automodule:: nlp104.encoding
   :no-members:

.. autofunction:: rotate
.. currentmodule:: nlp104.data

.. autoclass:: Tokenizer
   :members:
.. autofunction:: nlp104.translation.pretrained.read_card
.. automodule:: nlp104.data.splits
   :members:
```
""",
        encoding="utf-8",
    )
    assert concepts.documented(page) == {
        "module-nlp104.encoding",
        "nlp104.encoding.rotate",
        "nlp104.data.Tokenizer",
        "nlp104.translation.pretrained.read_card",
        "module-nlp104.data.splits",
        "nlp104.data.splits.split",
        "nlp104.data.splits.subset",
        "nlp104.data.splits.comparable",
    }
    anchors = {"nlp104.data.Tokenizer": "api/data.md#nlp104.data.Tokenizer"}
    link = concepts.name_link("nlp104.data.Tokenizer.train", anchors)
    assert link == "[`Tokenizer.train`](api/data.md#nlp104.data.Tokenizer.train)"
    assert concepts.name_link("nlp104.data.splits", anchors) == "`splits`"

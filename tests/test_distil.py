"""A model's own translations as pairs to learn from: that which is nearest to a person's."""

import numpy as np
import pytest

from experiments import distil
from nlp104.data.tokenizer import END_ID
from nlp104.decoding.beam_search import beam_search
from nlp104.training.run_record import write_record
from nlp104.training.settings import complete_settings
from nlp104.translation.pretrained import load_pretrained

PAIRS = (
    ("The black cat sleeps.", "Le chat noir dort."),
    ("The cat sleeps.", "Le chat dort."),
    ("You do not sleep.", "Tu ne dors pas."),
    ("The women sleep.", "Les femmes dorment."),
)


@pytest.fixture(scope="module")
def translator():
    return load_pretrained("grammar")


def test_what_a_person_wrote_is_nearest():
    texts = ["Il dort.", "Elle ne dort pas.", "Elle dort bien."]
    text, score = distil.nearest(texts, ["Elle dort bien.", "Elle dort."])
    assert (text, score) == ("Elle dort bien.", pytest.approx(100))
    assert distil.nearest(["Il dort.", "Il dort."], ["Elle mange !"])[0] == "Il dort."


def test_sub_words_are_joined_before_they_are_compared():
    texts = ["ein ha@@ se schläft .", "ein has@@ e schläft ."]
    reference = ["ein hase schläft ."]
    assert distil.nearest(texts, reference, tokenized=True) == (texts[0], pytest.approx(100))
    assert distil.nearest(texts[:1], reference)[1] < 100


@pytest.mark.slow
def test_candidates_are_those_of_the_search(translator):
    sources = [source for source, _ in PAIRS]
    found = distil.candidates(translator, sources)
    assert [texts[0] for texts in found] == translator.translate(sources, num_beams=distil.BEAMS)
    ids = np.array([[*translator.source_tokenizer.encode(sources[2]), END_ID]])
    (rows,), (scores,) = beam_search(translator.model, ids, distil.BEAMS, num_best=distil.BEAMS)
    expected = [translator.target_tokenizer.decode(row) for row in rows[scores > -np.inf]]
    assert found[2] == expected


@pytest.mark.slow
def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(distil, "AT_A_TIME", 2)
    data, output = tmp_path / "pairs.tsv", tmp_path / "written.tsv"
    data.write_text("".join(f"{s}\t{t}\n" for s, t in PAIRS), encoding="utf-8")
    assert distil.main(["grammar", str(output), "--data", str(data)]) is None
    whole = output.read_text(encoding="utf-8")
    lines = whole.splitlines(keepends=True)
    assert lines
    assert all(line.count("\t") == 2 for line in lines)
    assert "100.0\n" in whole
    run = tmp_path / "run"  # the same model, as a run's directory
    load_pretrained("grammar").save(run)
    settings = {"data": "pairs.tsv", "tokens": "word"}
    write_record(run, {"settings": complete_settings(settings)})
    other = tmp_path / "other.tsv"
    distil.main([str(run), str(other), "--data", str(data)])
    assert other.read_text(encoding="utf-8") == whole
    output.write_text("".join(lines[:1]) + lines[1][:5], encoding="utf-8")  # killed while it wrote
    distil.main(["grammar", str(output), "--data", str(data)])
    assert output.read_text(encoding="utf-8") == whole

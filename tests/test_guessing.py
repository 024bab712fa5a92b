"""The guessing game's record: consistent, and the table's part computed once more."""

import json
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from experiments import guessing
from experiments.language_model import alphabet, split
from nlp104.figures import results

RECORD = json.loads(results.read("language-model/guesses.json"))
PASSAGES = RECORD["passages"]
WHO = ("the model", "triples")
BOOK = (resources.files("nlp104.data") / "book.txt").read_text(encoding="utf-8")
KEYS = "abcdefghijklmnopqrstuvwxyz "


def _stretches():
    """What is learned from, in stretches, and the rest."""
    places = np.array_split(np.arange(len(BOOK)), 100)
    parts = [BOOK[part[0] : part[-1] + 1] for part in places]
    return [p for i, p in enumerate(parts) if i % 10 != 4], parts[4::10]


def _triples(counts, before, size):
    """P(next | two before), from counts in dictionaries, in Python's own floats."""
    signs = sorted(set(BOOK))
    known = {sign: 1 / size for sign in signs}
    for n in (1, 2, 3):
        context = before[len(before) - n + 1 :]
        total = sum(counts[n - 1][context + sign] for sign in signs)
        known = {
            sign: (counts[n - 1][context + sign] + 5 * known[sign]) / (total + 5) for sign in signs
        }
    return known


def test_the_table_guesses_as_it_is_counted_here():
    learned, _ = _stretches()
    train, size = "".join(learned), len(set(BOOK))
    counts = [Counter(train[i : i + n] for i in range(len(train) - n + 1)) for n in (1, 2, 3)]
    for passage in PASSAGES:
        text, told = passage["shown"] + passage["hidden"], passage["guessers"]["triples"]
        for i, letter in enumerate(passage["hidden"].lower()):
            known = _triples(counts, text[: len(passage["shown"]) + i], size)
            keys = {key: sum(known.get(case, 0) for case in {key, key.upper()}) for key in KEYS}
            own = keys[letter] / sum(keys.values())
            place = 1 + sum(share > keys[letter] for share in keys.values())
            assert told["own"][i] == pytest.approx(own, abs=6e-5)
            assert told["places"][i] == place


@pytest.mark.parametrize("who", WHO)
def test_places_agree_with_probabilities(who):
    for passage in PASSAGES:
        told, hidden = passage["guessers"][who], passage["hidden"].lower()
        assert len(told["places"]) == len(told["own"]) == len(told["best"]) == len(hidden)
        for letter, place, own, best in zip(
            hidden, told["places"], told["own"], told["best"], strict=True
        ):
            shares = list(best.values())
            assert shares == sorted(shares, reverse=True)
            assert len(best) == 6
            assert set(best) <= set(KEYS)
            assert 0 < own <= 1
            assert sum(shares) + (own if letter not in best else 0) <= 1 + 5e-4
            assert 1 <= place <= 27
            if letter in best:
                assert list(best).index(letter) + 1 == place
                assert best[letter] == own
            else:
                assert place > 6
                assert own <= shares[-1]


def test_nobody_has_read_the_passages():
    learned, rest = _stretches()
    for passage in PASSAGES:
        assert sum(passage["shown"] + passage["hidden"] in part for part in rest) == 1
        words = passage["hidden"]
        for part in learned:
            for i in range(len(words) - 24):
                assert words[i : i + 25] not in part, words[i : i + 25]


def test_names_of_passages_tell_nothing():
    for passage in PASSAGES:
        assert passage["name"] in passage["shown"].lower()
        assert passage["name"] not in passage["hidden"].lower()


def test_the_model_beats_the_table_and_both_find_beginnings_hard():
    """On the whole test text; fifty letters alone would prove little."""
    model, table = (RECORD["test"][who] for who in WHO)
    for kind in ("all", *guessing.PLACES[:3]):
        assert model[kind]["guesses"] < table[kind]["guesses"]
        assert model[kind]["nats"] < table[kind]["nats"]
    for one in (model, table):
        first, second, later, space = (one[place] for place in guessing.PLACES)
        assert first["guesses"] > 2 * max(second["guesses"], later["guesses"], space["guesses"])
        assert (
            sum(part["letters"] for part in (first, second, later, space))
            == (one["all"]["letters"])
        )
        mean = sum(part["letters"] * part["nats"] for part in (first, second, later, space))
        assert mean / one["all"]["letters"] == pytest.approx(one["all"]["nats"], abs=2e-3)
    assert model["all"]["letters"] == table["all"]["letters"] > 10_000
    assert RECORD["characters"] == len(BOOK)


def test_the_readme_names_the_command():
    text = (results.FOLDER / "language-model" / "README.md").read_text(encoding="utf-8")
    assert f"`{RECORD['command']}`" in text


# --- the parts ---


def test_cases_are_added_and_the_rest_is_left_out():
    number = alphabet(BOOK)
    probabilities = np.zeros((1, len(number) + 4))
    for sign, share in {"t": 0.2, "T": 0.1, " ": 0.1, "a": 0.2, ".": 0.3, "\n": 0.1}.items():
        probabilities[0, number[sign]] = share
    (keys,) = guessing.folded(probabilities, number)
    told = {key: share for key, share in zip(guessing.KEYS, keys, strict=True) if share}
    assert told == pytest.approx({"t": 0.5, "a": 1 / 3, " ": 1 / 6})
    places, own = guessing.answers(keys[None].repeat(3, 0), "T a")
    assert places.tolist() == [1, 3, 2]
    np.testing.assert_allclose(own, [0.5, 1 / 6, 1 / 3])


def test_where_in_its_word_a_letter_stands():
    text = "the big-end (at X, is"
    found = [guessing.place_in_word(text, at) for at in range(3, len(text))]
    #           the big  -  e n d     ( a t     X  ,     i  s
    expected = [3, 0, 1, 2, None, None, None, None, 3, None, None, None, 3, 0, None, None, 0, 1]
    assert found == expected


def test_a_model_is_asked_for_what_comes_next():
    """One that knows that letters repeat has every second one right at once."""
    _, _, size = split(BOOK)
    number = alphabet(BOOK)

    def says(ids):
        rows = np.full((len(ids) - 1, size), 0.1 / size)
        rows[np.arange(len(rows)), ids[:-1]] += 0.9
        return rows

    told = guessing.played(says, "xx", "aabb", number)
    assert [place == 1 for place in told["places"]] == [False, True, False, True]
    assert told["best"][0]["x"] == max(told["best"][0].values())

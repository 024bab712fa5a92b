"""The engine of a page as the page sees it: messages in, messages out, whatever is asked of it."""

import pytest
from browser import needs_browser
from web_engine import ask, write_page

import nlp104

pytestmark = needs_browser
SENTENCE = "The animal did not cross the street because it was too wide."


@pytest.fixture(scope="module")
def translator():
    return nlp104.load_pretrained("grammar")


@pytest.fixture(scope="module")
def page(tmp_path_factory, translator):
    return write_page(tmp_path_factory.mktemp("worker"), grammar=(translator, 6))


def answers(reader, **asked):
    return ask(reader, "translate", "grammar", asked)


def test_a_model_says_what_it_is(reader):
    script = "talk(nlp104web.inline(packed('grammar')), [{}], ['loaded'])"
    [loaded] = reader.evaluate(script)
    config = {"layers": 2, "heads": 4, "longest": 100, "languages": ["en", "fr"]}
    assert loaded["config"] == config | {"name": "grammar", "parameters": 1149454}


@pytest.mark.parametrize("beams", [1, 4])
def test_what_is_said_while_it_translates(reader, beams):
    source, *steps, done = answers(reader, id=7, text=SENTENCE, beams=beams)
    assert {message["id"] for message in (source, *steps, done)} == {7}
    assert (source["kind"], source["tokens"][0], source["tokens"][-1]) == ("source", "The", "[END]")
    assert [step["step"] for step in steps] == list(range(len(steps)))
    for step in steps:
        assert step["kind"] == "step"
        assert len(step["words"]) == 6
        shares = [share for _, share in step["words"]]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-6
        weights = step["attention"]["cross"]
        assert (len(weights), len(weights[0]), len(weights[0][0])) == (2, 4, len(source["tokens"]))
        assert sum(weights[1][3]) == pytest.approx(1)
    assert done["kind"] == "done"
    assert done["milliseconds"].keys() == {"encoder", "step"}
    assert len(done["candidates"]) == beams
    assert done["candidates"][0][0] == done["translation"]
    scores = [score for _, score in done["candidates"]]
    assert scores == sorted(scores, reverse=True)
    if beams == 1:  # it writes, and takes nothing back
        assert [step["token"] for step in steps] == done["target"]
        assert [step["words"] for step in steps] == done["words"]
        assert [step["text"] for step in steps][-1] == done["translation"]


def test_a_worker_says_the_same_as_the_page_itself(reader):
    one, *_, other = reader.call(
        """async (request) => {
          const worker = inWorker(engineText);
          await talk(worker, [{ kind: "load", model: packed("grammar") }], ["loaded"]);
          const found = await talk(worker, [request]);
          worker.terminate();
          return [found.at(-1), (await talk(await port("grammar"), [request])).at(-1)];
        }""",
        {"kind": "translate", "id": 1, "text": SENTENCE, "beams": 4},
    )
    for done in (one, other):
        del done["milliseconds"]
    assert one == other


def test_a_model_can_be_loaded_as_text(reader, translator):
    text = nlp104.translation.web.pack(translator, "as text")
    message = {"kind": "load", "model": text}
    [loaded] = reader.call("(load) => talk(inWorker(engineText), [load], ['loaded'])", message)
    assert loaded["config"]["name"] == "as text"


def test_a_new_request_stops_the_one_before(reader):
    heard = reader.call(
        """async (text) => talk(await port("grammar"), [
          { kind: "translate", id: 1, text, beams: 4 },
          { kind: "translate", id: 2, text: "The black cat sleeps.", beams: 1 },
        ])""",
        SENTENCE,
    )
    first = [message["kind"] for message in heard if message["id"] == 1]
    assert first == ["source"]
    assert heard[-1]["translation"] == "Le chat noir dort."


def test_a_port_that_was_closed_is_silent(reader):
    said = reader.call(
        """async (text) => {
          const port = nlp104web.inline(packed("grammar")), heard = [];
          await talk(port, [{}], ["loaded"]);
          port.onmessage = ({ data }) => {
            heard.push(data.kind);
            if (data.kind === "step") port.terminate();
          };
          port.postMessage({ kind: "translate", id: 1, text });
          await new Promise((done) => setTimeout(done, 300));
          return heard;
        }""",
        SENTENCE,
    )
    assert said == ["source", "step"]


REFUSED = {
    "nothing": ({"text": ""}, "Expected a sentence to translate. Received: an empty one."),
    "spaces": ({"text": " \n\u00a0\u2003 "}, "Expected a sentence to translate."),
    "nothing that is seen": ({"text": "\u200b\ufeff"}, "Expected a sentence to translate."),
    "no text": ({"text": None}, "Expected a sentence as a string. Received: null."),
    "a number": ({"text": 5}, "Expected a sentence as a string. Received: number."),
    "half a character": ({"text": "a \ud83d b"}, "Expected Unicode. Received: half a character."),
    "many words": ({"text": "cat " * 101}, "Expected at most 100 tokens. Received: 101."),
    "a book": ({"text": "a" * 10_000}, "Expected at most 5000 characters. Received: 10000."),
    "two beams": ({"beams": 2}, "Expected 1 beam (greedy) or 4. Received: 2."),
    "no number of beams": ({"beams": "4"}, "Expected 1 beam (greedy) or 4. Received: 4."),
    "a penalty below 0": ({"alpha": -1}, "Expected a length penalty alpha from 0 to 10."),
    "a penalty above 10": ({"alpha": 11}, "Expected a length penalty alpha from 0 to 10."),
    "no list of heads": ({"off": 3}, "Expected a list of heads to switch off. Received: number."),
    "no such layer": (
        {"off": [["cross", 2, 0]]},
        "Expected heads as [encoder or decoder or cross, ",
    ),
    "no such head": ({"off": [["cross", 0, 4]]}, "Expected heads as ["),
    "no such attention": ({"off": [["own", 0, 0]]}, "Expected heads as ["),
    "half a head": ({"off": [["cross", 0, 0.5]]}, "Expected heads as ["),
    "something inherited": ({"off": [["constructor", 0, 0]]}, "Expected heads as ["),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_translated_is_refused_in_a_sentence(reader, name):
    request, message = REFUSED[name]
    [refused] = answers(reader, **{"text": SENTENCE, **request})
    assert refused["kind"] == "refused"
    assert refused["message"].startswith(message)
    assert refused["message"].count(". Received: ") == 1


@pytest.mark.parametrize("value", ["NaN", "Infinity", "undefined * 2", "null", "{}"])
def test_no_number_is_refused(reader, value):
    for field in ("beams", "alpha"):
        script = f"translate('grammar', {{ text: 'The cat sleeps.', {field}: {value} }})"
        assert [message["kind"] for message in reader.evaluate(script)] == ["refused"]


def test_without_a_model_nothing_is_translated(reader):
    request = {"kind": "translate", "id": 1, "text": SENTENCE}
    [refused] = reader.call("(request) => talk(nlp104web.inline(), [request])", request)
    assert refused["message"] == "Expected a model, loaded first. Received: none."


@pytest.mark.parametrize(
    "text", ["漢字 👍🏽 \U00020000", "\u202e\u0301\u0000", "[PAD] [END]", "'" * 40]
)
def test_what_the_vocabulary_lacks_is_translated_all_the_same(reader, translator, text):
    source, *_, done = answers(reader, text=text)
    assert source["tokens"] == [*translator.source_tokenizer.tokens(text), "[END]"]
    assert done["kind"] == "done"


def test_the_longest_sentence_is_translated(reader):
    assert answers(reader, text="cat " * 100)[-1]["kind"] == "done"


@pytest.mark.slow
def test_many_translations_leave_nothing_behind(reader):
    def used():
        reader.ask("HeapProfiler.collectGarbage")
        return reader.ask("Runtime.getHeapUsage")["usedSize"]

    many = """async () => {
      for (let i = 0; i < 20; i++)
        await translate("grammar", { text: "The black cat sleeps.", beams: i % 2 ? 4 : 1 });
    }"""
    reader.call(many)
    before = used()
    for _ in range(10):
        reader.call(many)
    assert used() - before < 200_000  # bytes; the weights of one translation alone are 20,000


def test_the_page_asks_for_nothing_and_complains_of_nothing(reader, page):
    assert all(address.startswith(("file://", "blob:")) for address in reader.requested)
    assert [text for text in reader.complaints if text] == []

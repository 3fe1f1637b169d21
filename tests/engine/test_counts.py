"""What the engine says it has done, by hand."""

import dataclasses

from app.engine.counts import EngineCounts, Positions
from app.engine.engine import Engine, EngineSettings
from app.engine.hypotheses import SearchOptions
from app.engine.sharing import Decode
from app.engine.tickets import Sentence, Ticket
from app.engine.worker import Worker
from tests.engine.scripted_model import ScriptedModel, echo_rule


def counts(*sources: tuple[int, ...], width: int = 1) -> EngineCounts:
    """After one request whose sentences are read together and echoed, padded to multiples of four."""
    model = ScriptedModel(echo_rule(30), 30)
    model.limits = dataclasses.replace(model.limits, source_multiple=4)
    engine = Engine([model], EngineSettings(100, 100))
    engine.start()
    options = SearchOptions(width, 1.0, 0, 9)
    for answer in engine.submit([Sentence(source, options) for source in sources], 20):
        answer.result(10)
    engine.stop(5)
    return engine.counts()


def test_nothing_is_padded_where_all_are_alike() -> None:
    found = counts((2, 3, 4, 5), (6, 7, 8, 9))
    assert (found.sentences, found.shared, found.waiting, found.rows) == (2, 0, 0, 0)
    # Five steps each, the last gives the end of sentence: five times the source.
    assert found.positions == {"encoder": Positions(8, 0), "decoder_cross": Positions(40, 0)}


def test_padding_of_sources_counts_in_reading_and_at_every_step() -> None:
    found = counts((2,), (3, 4, 5, 6, 7))
    assert found.positions["encoder"] == Positions(1 + 5, 3 + 3)
    # Two steps of both, for which the shorter source is padded to five; then four of the longer alone.
    assert found.positions["decoder_cross"] == Positions(2 * (1 + 5) + 4 * 5, 2 * 4)


def test_a_shared_sentence_is_computed_once() -> None:
    alone, twice = counts((2, 3)), counts((2, 3), (2, 3))
    assert (twice.sentences, twice.shared) == (2, 1)
    assert twice.positions == alone.positions


def test_every_row_of_a_beam_counts() -> None:
    narrow, wide = counts((2, 3, 4)), counts((2, 3, 4), width=3)
    assert wide.positions["encoder"] == narrow.positions["encoder"] == Positions(3, 1)
    assert wide.positions["decoder_cross"].real % 3 == 0
    assert wide.positions["decoder_cross"].real >= 3 * narrow.positions["decoder_cross"].real


def test_a_sentence_that_joins_later_is_padded_to_those_before_it() -> None:
    """Steps are made one by one in this test, in this thread."""

    worker = Worker(ScriptedModel(echo_rule(30), 30), lambda *_: None)

    def decode(*source: int) -> Decode:
        return Decode([Ticket(0, Sentence(source, SearchOptions(1, 1.0, 0, 9)), 1.0, 1.0)])

    worker.admit([decode(2, 3, 4)])
    worker.step()
    worker.step()
    worker.admit([decode(5)])
    worker.step()
    assert worker.positions["decoder_cross"] == Positions(3 + 3 + (3 + 1), 2)

"""What one engine thread decodes: a running batch for every beam size that it has sentences of."""

from collections.abc import Callable, Sequence

from app.engine.counts import PARTS, Part, Positions
from app.engine.hypotheses import Hypothesis
from app.engine.running_batch import RunningBatch
from app.engine.sharing import Decode
from app.engine.step_model import StepModel

Fault = Callable[[Sequence[Decode], Exception], None]


class Worker:
    """Belongs to one thread, but for its attributes, which anybody may read.

    Where the model raises, ``fault`` is called with the sentences that are lost by it, and the others go on.

    Attributes:
        rows: rows that the next step computes, those about to be admitted included.
        positions: what the model was given so far.
    """

    def __init__(self, model: StepModel, fault: Fault) -> None:
        self._model = model
        self._fault = fault
        self._batches: dict[int, RunningBatch[Decode]] = {}
        self.rows = 0
        self.positions = dict.fromkeys(PARTS, Positions())

    @property
    def decodes(self) -> list[Decode]:
        """What it decodes now."""
        return [decode for batch in self._batches.values() for decode, _ in batch.newest()]

    def admit(self, decodes: Sequence[Decode]) -> None:
        """Reads sentences; they take part from the next step on."""
        by_width: dict[int, list[Decode]] = {}
        for decode in decodes:
            by_width.setdefault(decode.sentence.options.beam_size, []).append(decode)
        for width, group in by_width.items():
            self._join(width, group)
        self._count_rows()

    def step(self) -> list[tuple[Decode, list[Hypothesis]]]:
        """Moves every sentence one piece on; returns those that finished, with what was found."""
        finished: list[tuple[Decode, list[Hypothesis]]] = []
        for width, batch in list(self._batches.items()):
            self._count_step(batch, width)
            try:
                ended = batch.step()
                finished += ended
                if width == 1:
                    _tell(batch, ended)
            except Exception as error:
                self._fault(batch.clear(), error)
        self._count_rows()
        return finished

    def drop(self, unwanted: Callable[[Decode], bool]) -> list[Decode]:
        """Ends sentences before their time; returns them."""
        dropped = []
        for batch in list(self._batches.values()):
            try:
                dropped += batch.drop(unwanted)
            except Exception as error:
                self._fault(batch.clear(), error)
        self._count_rows()
        return dropped

    def clear(self) -> list[Decode]:
        """Forgets all its sentences; returns them."""
        forgotten = [decode for batch in self._batches.values() for decode in batch.clear()]
        self._count_rows()
        return forgotten

    def _join(self, width: int, group: Sequence[Decode]) -> None:
        batch = self._batches.setdefault(width, RunningBatch(self._model.limits, width))
        try:
            newcomers = self._model.encode([decode.sentence.source for decode in group], width)
        except Exception as error:
            self._fault(group, error)
            return
        self._count_reading(group)
        try:
            batch.join(newcomers, [decode.sentence.options for decode in group], group)
        except Exception as error:
            self._fault([*batch.clear(), *group], error)

    def _count_reading(self, group: Sequence[Decode]) -> None:
        multiple = self._model.limits.source_multiple
        lengths = [len(decode.sentence.source) for decode in group]
        self._count("encoder", sum(lengths), sum(-(-length // multiple) * multiple for length in lengths))

    def _count_step(self, batch: RunningBatch[Decode], width: int) -> None:
        decodes = [decode for decode, _ in batch.newest()]
        sources = sum(len(decode.sentence.source) for decode in decodes)
        self._count("decoder_cross", width * sources, batch.rows * batch.source_len)

    def _count(self, part: Part, real: int, computed: int) -> None:
        self.positions[part] += Positions(real, computed - real)

    def _count_rows(self) -> None:
        self._batches = {width: batch for width, batch in self._batches.items() if len(batch)}
        self.rows = sum(batch.rows for batch in self._batches.values())


def _tell(batch: RunningBatch[Decode], ended: Sequence[tuple[Decode, list[Hypothesis]]]) -> None:
    """Reports what greedy search has decided to those who listen."""
    for decode, hypotheses in ended:
        # At the length limit the last piece is text, not an end of sentence.
        if hypotheses[0].finish_reason == "length":
            decode.tell(hypotheses[0].ids[-1])
    for decode, piece in batch.newest():
        decode.tell(piece)

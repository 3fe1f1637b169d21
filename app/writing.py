"""What the model wrote to what is answered: text, segments, pairs to explain."""

from collections.abc import Sequence

from app.engine.hypotheses import Hypothesis
from app.explainer import Pair, TextPairs
from app.reading import Part
from app.text.segments import join
from app.text.tokenizer import Tokenizer
from app.text.tokens import TokenisedText, kept_texts, source_tokens, target_tokens, written_text
from app.translation import Alternative, Segment, SegmentText, TranslateRequest, Translation, Usage


class Writer:
    """Writes with one tokenizer; ``target_len`` is how many pieces the model can be fed."""

    def __init__(self, tokenizer: Tokenizer, target_len: int) -> None:
        self._tokenizer = tokenizer
        self._target_len = target_len

    def translation(self, text: str, parts: Sequence[Part], found: Sequence[list[Hypothesis]]) -> Translation:
        """Hypotheses to text; the target's spans follow from joining.

        Where the model translates a sentence to nothing the sentence itself stands: no text is lost.
        """
        written = [
            self._text(part, hypotheses[0]) if hypotheses else "" for part, hypotheses in zip(parts, found, strict=True)
        ]
        targets = [target or part.text for target, part in zip(written, parts, strict=True)]
        joined, spans = join(text, [part.span for part in parts], targets)
        segments = [
            self._segment(part, hypotheses, target, span) if target else _copied(part, span)
            for part, hypotheses, target, span in zip(parts, found, written, spans, strict=True)
        ]
        return Translation(joined, tuple(segments))

    def _text(self, part: Part, hypothesis: Hypothesis) -> str:
        return written_text(self._tokenizer, hypothesis.ids, part.recased, part.kept)

    def _segment(self, part: Part, hypotheses: Sequence[Hypothesis], text: str, span: tuple[int, int]) -> Segment:
        assert part.source_ids is not None
        best, kept = hypotheses[0], kept_texts(part.kept)
        alternatives = (Alternative(self._text(part, other), other.log_prob, other.score) for other in hypotheses[1:])
        return Segment(
            source=SegmentText(part.text, part.span, tuple(self._tokenizer.pieces(part.source_ids[1:-1], kept))),
            target=SegmentText(text, span, tuple(self._tokenizer.pieces(best.ids, kept))),
            log_prob=best.log_prob,
            score=best.score,
            finish_reason=best.finish_reason,
            alternatives=tuple(alternatives),
            recased=part.recased,
            kept=part.kept,
        )

    def pairs(
        self, request: TranslateRequest, text: str, translation: Translation, found: Sequence[list[Hypothesis]]
    ) -> TextPairs:
        """What the explainer needs of one translated text."""
        pairs = (
            self._pair(request, segment, hypotheses)
            for segment, hypotheses in zip(translation.segments, found, strict=True)
        )
        return TextPairs(text, translation.text, tuple(pairs))

    def _pair(self, request: TranslateRequest, segment: Segment, hypotheses: Sequence[Hypothesis]) -> Pair:
        source, target = segment.source, segment.target
        if segment.finish_reason == "copied":
            both = (TokenisedText(side.text, (), ()) for side in (source, target))
            return Pair(source.span, next(both), target.span, next(both), "copied")
        ids = list(hypotheses[0].ids)
        if len(ids) < self._target_len:
            # Fed to the decoder too, the last piece gets a row of its own, also where the search was cut.
            ids.append(self._tokenizer.special_ids.eos)
        read = source_tokens(self._tokenizer, source.text, request.source, request.target)
        written = target_tokens(self._tokenizer, ids, request.target, segment.recased, segment.kept)
        return Pair(source.span, read, target.span, written, segment.finish_reason)


def usage_of(request: TranslateRequest, translations: Sequence[Translation], texts: Sequence[Sequence[Part]]) -> Usage:
    """Pieces are counted without tag and end of sentence, as in ``segments``."""
    return Usage(
        characters=sum(map(len, request.texts)),
        source_pieces=sum(len(part.source_ids) - 2 for parts in texts for part in parts if part.source_ids),
        target_pieces=sum(len(segment.target.pieces) for each in translations for segment in each.segments),
    )


def _copied(part: Part, span: tuple[int, int]) -> Segment:
    return Segment(
        source=SegmentText(part.text, part.span, ()),
        target=SegmentText(part.text, span, ()),
        log_prob=None,
        score=None,
        finish_reason="copied",
        alternatives=(),
    )

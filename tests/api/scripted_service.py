"""A service whose "translation" is the text in capitals: a mixed-up answer would be seen."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import numpy as np

from app.attention.alignment import Alignment, AlignmentRule, Link
from app.attention.axes import Axis
from app.attention.maps import AttentionMap
from app.attention.signals import Signal, Signals
from app.explanation import (
    ExplainedSegment,
    ExplainedSide,
    ExplainedTarget,
    ExplainedText,
    ExplainRequest,
    ExplanationRequest,
    Prediction,
    Rival,
)
from app.main import Running, create_app
from app.settings import Settings
from app.streaming import Tell
from app.text.segments import is_translatable, join
from app.text.split import split
from app.text.tokens import Token, TokenisedText, Word
from app.translation import (
    Alternative,
    ModelInfo,
    Segment,
    SegmentText,
    TranslateRequest,
    TranslateResult,
    Translation,
    Usage,
)


@dataclass
class ScriptedService:
    failure: BaseException | None = None
    is_ready: bool = True
    hangs: bool = False
    reduces: bool = False
    stopped: int = 0
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: bool = False
    requests: list[TranslateRequest] = field(default_factory=list)
    explained: list[ExplainRequest] = field(default_factory=list)

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        self.requests.append(request)
        self.started.set()
        if self.failure is not None:
            raise self.failure
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        translations = tuple(_translate(text, request) for text in request.texts)
        return TranslateResult(translations, Usage(sum(map(len, request.texts)), 3, 4))

    async def explain(self, request: ExplainRequest) -> ExplainedText:
        self.explained.append(request)
        if self.failure is not None:
            raise self.failure
        return _explained(
            request.text, request.target_text or request.text.upper(), request.wanted, 1 if self.reduces else 2
        )

    def languages(self) -> tuple[tuple[str, str], ...]:
        return (("en", "fr"), ("fr", "en"))

    def info(self) -> ModelInfo:
        return ModelInfo(
            id="scripted",
            revision="r1",
            precision="float32",
            provider="none",
            threads=1,
            architecture={
                "encoder_layers": 3,
                "decoder_layers": 6,
                "heads": 2,
                "norm": "post",
                "positions": "learned",
            },
            limits={"source_len": 9},
            certificate={"bleu": 100.0},
        )

    def ready(self) -> bool:
        return self.is_ready

    def stop(self) -> None:
        self.stopped += 1
        self.is_ready = False


@asynccontextmanager
async def client_of(service: ScriptedService, settings: Settings | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """The real application over HTTP's messages, without sockets, from start to stop."""
    app = create_app(settings or Settings(), lambda _: Running(service, 4, service.stop))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        yield client


def _translate(text: str, request: TranslateRequest) -> Translation:
    sentences = split(text, request.source, lambda _: True)
    targets = [sentence.text.upper() for sentence in sentences]
    joined, spans = join(text, [sentence.span for sentence in sentences], targets)
    segments = []
    for sentence, target, span in zip(sentences, targets, spans, strict=True):
        copied = not is_translatable(sentence.text)
        segments.append(
            Segment(
                source=SegmentText(sentence.text, sentence.span, () if copied else ("▁a", "b")),
                target=SegmentText(target, span, () if copied else ("▁A",)),
                log_prob=None if copied else -1.23456789,
                score=None if copied else -0.5,
                finish_reason="copied" if copied else "eos",
                alternatives=() if copied else (Alternative("other", -3.0, -1.5),) * request.alternatives,
            )
        )
    explained = None if request.explain is None else _explained(text, joined, request.explain)
    return Translation(joined, tuple(segments), explained)


def _explained(text: str, target_text: str, wanted: ExplanationRequest, heads: int = 2) -> ExplainedText:
    """Every sentence has one word of one piece on both sides."""
    tokens = (Token("▁a", 7, (0, 1), 0, None), Token("</s>", 2, None, None, "eos"))
    words = (Word(text[:1], (0, 1), (0,)),)
    source = ExplainedSide((0, len(text)), TokenisedText(text, tokens, words))
    side = ExplainedSide((0, len(target_text)), TokenisedText(target_text, tokens, words))
    prediction = Prediction(-1.23456, (Rival("▁b", 8, -0.5),), 0.25)
    target = ExplainedTarget(side, ("<s>", "▁a"), (prediction, prediction))
    rule = AlignmentRule(1)
    alignment = Alignment(
        rule, np.full((1, 1), 1 / 3, dtype=np.float32), (Link(0, 0, 1 / 3),), np.full((2, 2), 1 / 3, dtype=np.float32)
    )
    signals = Signals(-1.23456, (0.125,), 0.5, (Signal("ignored_source", "source", 0, 0, (0, 1), 0.125, 0.2),))
    maps = None
    if wanted.attention:
        values = np.full((1, heads, 2, 2), 1 / 3, dtype=np.float32)
        query = Axis("target.fed", ((0,), (1,)), ("<s>", "▁a"))
        key = Axis("source.tokens", ((0,), (1,)), ("▁a", "</s>"))
        maps = {
            one: AttentionMap(one, (5,), (0, 1), query, key, values, None, True) for one in wanted.attention.families
        }
    segment = ExplainedSegment("eos", source, target, maps, alignment if wanted.alignment else None, signals)
    sentences = [one for one in split(text, "en", lambda _: True) if is_translatable(one.text)]
    return ExplainedText(text, target_text, (segment,) * len(sentences), wanted, muted=False)

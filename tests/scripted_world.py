"""A translator whose model repeats its source."""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np

from app.attention.alignment import AlignmentRule
from app.attention.selection import AttentionDepths
from app.engine.engine import Engine, EngineSettings, EngineState
from app.engine.step_model import Explanation, Float32, HeadMasks, ReadSource, StepModel
from app.explanation import ExplainedText, ExplainRequest
from app.text.tokenizer import Tokenizer
from app.translation import ModelInfo, TranslateRequest, TranslateResult
from app.translator import Translator, TranslatorSettings
from tests.engine.scripted_model import ScriptedModel, log_softmax

DEPTHS = AttentionDepths(encoder_layers=3, decoder_layers=2, heads=4)
SETTINGS = TranslatorSettings((("en", "fr"), ("fr", "en")), 1, 1.0, DEPTHS, 10_000, 20.0, AlignmentRule(1))
INFO = ModelInfo("scripted", "1", "float32", "none", 1, {}, {}, {})


def uniform(layers: int, query: int, key: int) -> Float32:
    return np.full((layers, 4, query, key), 1 / key, dtype=np.float32)


class UniformExplainer:
    def __init__(self, muted: StepModel) -> None:
        self.muted = muted

    def read(self, source_ids: Sequence[int], masks: HeadMasks | None = None) -> ReadSource:
        return ReadSource(uniform(3, len(source_ids), len(source_ids)), (), ())

    def explain(self, read: ReadSource, target_ids: Sequence[int], masks: HeadMasks | None = None) -> Explanation:
        source, target = read.source_len, len(target_ids)
        return Explanation(
            np.zeros(target, np.float32),
            np.tile(np.arange(5), (target, 1)),
            np.zeros((target, 5), np.float32),
            np.zeros(target, np.float32),
            read.encoder,
            uniform(2, target, target),
            uniform(2, target, source),
        )

    def step_model(self, masks: HeadMasks, check: Callable[[], None]) -> StepModel:
        check()
        return self.muted


class World:
    """A translator whose model repeats its source, with everything in reach of a test."""

    def __init__(self, tokenizer: Tokenizer, settings: TranslatorSettings = SETTINGS) -> None:
        self.model = ScriptedModel(self._rule, tokenizer.vocab_size)
        special = tokenizer.special_ids
        self.eos = special.eos
        self.model.limits = dataclasses.replace(self.model.limits, bos_id=special.bos, eos_id=special.eos)
        self.silent = self.endless = False
        self.seconds_per_step = 0.0
        self.engine = Engine([self.model], EngineSettings(batch_rows=4, queue_sentences=30))
        self.engine.start()
        self.translator = Translator(INFO, settings, tokenizer, self.engine, UniformExplainer(self.model))

    def _rule(self, source: tuple[int, ...], fed: tuple[int, ...]) -> Float32:
        time.sleep(self.seconds_per_step)
        position = len(fed)
        wanted = source[position] if position < len(source) else self.eos
        if self.silent or source[0] == self.eos:
            wanted = self.eos
        if self.endless:
            wanted = source[1]
        logits = np.zeros(self.model.limits.vocab_size)
        logits[wanted] = 20.0
        return log_softmax(logits)

    def failed(self) -> bool:
        return self.engine.state is EngineState.FAILED

    def translate(self, *texts: str, **options: object) -> TranslateResult:
        request = TranslateRequest(texts, "en", "fr", **options)  # type: ignore[arg-type]
        return asyncio.run(self.translator.translate(request))

    def explain(self, request: ExplainRequest) -> ExplainedText:
        return asyncio.run(self.translator.explain(request))

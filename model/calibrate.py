"""How far hints beside a translation can be trusted: ``python -m model.calibrate MODEL_DIRECTORY PAIRS.tsv``.

Every sentence is translated; then the same translation is given one fault on purpose: a stretch of words dropped, the
translation of another sentence put in its place, a phrase said twice, or words left in the source's language. A hint is
right where there is such a fault. Its precision here is the share of faulty ones among the sentences that get it, with
as many faulty as sound ones; the model's own faults count against it.

Thresholds come first: those that give ``FALSE_ALARMS`` of the sound sentences a hint. A threshold flatters itself on
the sentences that it was chosen on, so every other sentence is kept from that, and only these judge. The report is
written beside the model, as ``signals.json``; the server gives hints by its thresholds and shows it in ``/info``.
"""

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.attention.alignment import AlignmentRule, align
from app.attention.signals import SignalKind, Signals, SignalWord, Thresholds, find_signals
from app.engine.hypotheses import SearchOptions
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import SIGNALS_FILE, ModelDirectory, open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions
from app.text.tokenizer import Tokenizer
from app.text.tokens import TokenisedText, given_tokens, kept_parts, read_ids, source_tokens, written_text
from app.text.words import word_spans
from model.corpus import read_columns
from model.scoring import search_all

FALSE_ALARMS = 0.05
_FEWEST_WORDS = 8
_EVERYTHING = Thresholds(ignored_source=np.inf, unsourced_target=np.inf, low_logprob=np.inf)
_GRADED: tuple[SignalKind, ...] = ("ignored_source", "unsourced_target", "low_logprob")
_COUNTED: tuple[SignalKind, ...] = ("repetition", "copy_through")

Fault = Callable[[str, str, str, str, random.Random], str]
"""``(source, target, other target, target language, random)`` to a faulty target."""


@dataclass(frozen=True)
class Sample:
    """One sentence with its translation, and the translation of another one."""

    source: str
    target: str
    other: str


class Calibration:
    """Hints of one model in one direction."""

    def __init__(self, directory: ModelDirectory, source: str, target: str) -> None:
        config = directory.config
        layer = config.architecture.decoder_layers - 1 if config.alignment_layer is None else config.alignment_layer
        self.rule = AlignmentRule(layer, config.alignment_rule)
        self.languages = (source, target)
        self._limits = config.limits
        self._tokenizer = Tokenizer(directory.tokenizer_path)
        self._explain = OnnxExplainModel(directory, RuntimeOptions("cpu"))
        self._step = OnnxStepModel(directory, RuntimeOptions("cpu"))
        self._search = SearchOptions(config.search.beam_size, config.search.length_penalty, 0, config.limits.target_len)

    def samples(self, sentences: Sequence[str]) -> list[Sample]:
        """Sentences long enough to lose some words, translated by the model."""
        encoded = {one: read_ids(self._tokenizer, one, *self.languages) for one in sentences}
        fitting = {one: ids for one, ids in encoded.items() if len(ids) <= self._limits.source_len}
        found = search_all(self._step, list(fitting.values()), self._search) if fitting else []
        pairs = [(one, self._written(one, best.ids)) for one, best in zip(fitting, found, strict=True)]
        pairs = [pair for pair in pairs if len(word_spans(pair[1], self.languages[1])) >= _FEWEST_WORDS]
        others = [target for _, target in pairs[1:] + pairs[:1]]
        return [Sample(*pair, other) for pair, other in zip(pairs, others, strict=True)]

    def _written(self, source: str, ids: Sequence[int]) -> str:
        return written_text(self._tokenizer, ids, recased=False, kept=kept_parts(self._tokenizer, source))

    def signals(self, source: str, target: str) -> Signals | None:
        """All words as hints, for thresholds to choose among; None where the pair is too long."""
        read = source_tokens(self._tokenizer, source, *self.languages)
        kept = kept_parts(self._tokenizer, source)
        written = given_tokens(self._tokenizer, target, self.languages[1], kept=kept)
        if len(written.tokens) > self._limits.target_len:
            return None
        found = self._explain.explain_pair([one.id for one in read.tokens], [one.id for one in written.tokens])
        groups = ([word.tokens for word in side.words] for side in (read, written))
        alignment = align(found.cross, self.rule, next(groups), next(groups))
        words = (_words(read), _words(written))
        return find_signals(alignment, found.cross, found.log_probs, *words, _EVERYTHING)


def _words(text: TokenisedText) -> list[SignalWord]:
    return [SignalWord(word.text, word.span, word.tokens) for word in text.words]


def dropped(_source: str, target: str, _other: str, language: str, choice: random.Random) -> str:
    """A third of the words gone."""
    spans = word_spans(target, language)
    count = max(2, len(spans) // 3)
    first = choice.randrange(1, len(spans) - count)
    return target[: spans[first][0]] + target[spans[first + count][0] :]


def swapped(_source: str, _target: str, other: str, _language: str, _choice: random.Random) -> str:
    """The translation of another sentence."""
    return other


def repeated(_source: str, target: str, _other: str, language: str, choice: random.Random) -> str:
    """Two to four words said twice."""
    spans = word_spans(target, language)
    count = choice.randint(2, 4)
    first = choice.randrange(len(spans) - count)
    phrase = target[spans[first][0] : spans[first + count - 1][1]]
    end = spans[first + count - 1][1]
    return f"{target[:end]} {phrase}{target[end:]}"


def untranslated(source: str, target: str, _other: str, _language: str, _choice: random.Random) -> str:
    """The second half as in the source."""
    source_words, target_words = source.split(), target.split()
    return " ".join([*target_words[: len(target_words) // 2], *source_words[len(source_words) // 2 :]])


FAULTS: dict[str, Fault] = {
    "dropped": dropped,
    "swapped": swapped,
    "repeated": repeated,
    "untranslated": untranslated,
}


def calibrate(calibration: Calibration, samples: Sequence[Sample]) -> dict[str, Any]:
    """Thresholds chosen on one half of the samples; on the other, how often each hint is given and right, by fault.

    Raises:
        ValueError: there are not two samples.
    """
    if len(samples) < 2:
        raise ValueError(f"not two sentences have a translation of at least {_FEWEST_WORDS} words")
    chosen_on, judged_on = samples[::2], samples[1::2]
    thresholds = choose_thresholds([calibration.signals(one.source, one.target) for one in chosen_on])
    sound = [calibration.signals(one.source, one.target) for one in judged_on]
    faulty = _faulty(calibration, judged_on)
    return {
        "sentences": len(judged_on),
        "thresholds_from": len(chosen_on),
        "rule": vars(calibration.rule),
        "signals": {kind: judge(kind, thresholds.get(kind), sound, faulty) for kind in (*_GRADED, *_COUNTED)},
        "mean_logprob": {name: _mean_logprob(some) for name, some in {"sound": sound, **faulty}.items()},
    }


def choose_thresholds(sound: Sequence[Signals | None]) -> dict[SignalKind, float]:
    """For each graded hint the threshold that gives it to ``FALSE_ALARMS`` of sound translations."""
    return {
        kind: round(float(np.quantile([_lowest(kind, one) for one in sound if one], FALSE_ALARMS)), 4)
        for kind in _GRADED
    }


def judge(
    kind: SignalKind,
    threshold: float | None,
    sound: Sequence[Signals | None],
    faulty: dict[str, list[Signals | None]],
) -> dict[str, Any]:
    """How often a hint is given and right at ``threshold``; without one it is given wherever it is found."""

    def given(some: Sequence[Signals | None]) -> float:
        limit = np.inf if threshold is None else threshold
        return float(np.mean([_lowest(kind, one) < limit for one in some if one]))

    alarms = given(sound)
    faults = {}
    for name, some in faulty.items():
        hits = given(some)
        faults[name] = {"given": round(hits, 3), "precision": round(hits / max(hits + alarms, 1e-9), 3)}
    return {"threshold": threshold, "false_alarms": round(alarms, 3), "faults": faults}


def _faulty(calibration: Calibration, samples: Sequence[Sample]) -> dict[str, list[Signals | None]]:
    """Hints about every sample with every fault."""
    choice = random.Random(0)
    found: dict[str, list[Signals | None]] = {}
    for name, fault in FAULTS.items():
        targets = [fault(one.source, one.target, one.other, calibration.languages[1], choice) for one in samples]
        found[name] = [calibration.signals(one.source, target) for one, target in zip(samples, targets, strict=True)]
    return found


def _lowest(kind: SignalKind, signals: Signals) -> float:
    """The value that gives the hint first; infinite where nothing would."""
    return min((one.value for one in signals.found if one.kind == kind), default=float("inf"))


def _mean_logprob(some: Sequence[Signals | None]) -> float:
    return round(float(np.mean([one.mean_logprob for one in some if one])), 3)


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="model directory")
    parser.add_argument("pairs", type=Path, help="held-out pairs, two columns")
    parser.add_argument("--sentences", type=int, default=1000, help="most of each direction (%(default)s)")
    arguments = parser.parse_args()
    directory = open_model_directory(arguments.model)
    languages = directory.config.languages
    lines = read_columns(arguments.pairs)[: arguments.sentences]
    found = {}
    for source, target in directory.config.directions:
        calibration = Calibration(directory, source, target)
        side = languages.index(source)
        report = calibrate(calibration, calibration.samples([line[side] for line in lines]))
        found[f"{source}-{target}"] = report
        for kind, one in report["signals"].items():
            print(f"{source}-{target} {kind}, threshold {one['threshold']}: {one['faults']}")
            print(f"  given to {one['false_alarms']:.1%} of sound translations", flush=True)
    directory.file(SIGNALS_FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""A step model without a network: what comes next is a function of the source and of what was fed."""

from collections.abc import Callable, Sequence

import numpy as np

from app.engine.step_model import Candidates, Float32, Int64, ModelLimits

BOS, EOS = 0, 1

Rule = Callable[[tuple[int, ...], tuple[int, ...]], Float32]


def log_softmax(logits: np.ndarray) -> Float32:
    shifted = logits - logits.max()
    return (shifted - np.log(np.exp(shifted).sum())).astype(np.float32)


def random_rule(vocab_size: int, seed: int = 0) -> Rule:
    """Any distribution, but always the same for the same source and prefix."""

    def rule(source: tuple[int, ...], fed: tuple[int, ...]) -> Float32:
        random = np.random.default_rng((seed, *source, 99, *fed))
        return log_softmax(random.normal(scale=1.5, size=vocab_size))

    return rule


def echo_rule(vocab_size: int) -> Rule:
    """Repeats the source: a mix-up between sentences is visible in the answer."""

    def rule(source: tuple[int, ...], fed: tuple[int, ...]) -> Float32:
        wanted = (*source, EOS)[len(fed) - 1] if len(fed) <= len(source) else EOS
        logits = np.zeros(vocab_size)
        logits[wanted] = 10.0
        return log_softmax(logits)

    return rule


class ScriptedModel:
    """Implements ``StepModel``; counts what it is asked for and raises when told to."""

    def __init__(self, rule: Rule, vocab_size: int, target_len: int = 64) -> None:
        self.rule = rule
        self.limits = ModelLimits(vocab_size, 64, target_len, BOS, EOS)
        self.fault: Exception | None = None
        self.fault_source: tuple[int, ...] | None = None
        self.batch_sizes: list[int] = []

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> "ScriptedDecoding":
        self.check([tuple(source) for source in sources])
        return ScriptedDecoding(self, [tuple(source) for source in sources], width)

    def check(self, sources: Sequence[tuple[int, ...]]) -> None:
        if self.fault and (self.fault_source is None or self.fault_source in sources):
            raise self.fault


class ScriptedDecoding:
    def __init__(self, model: ScriptedModel, sources: list[tuple[int, ...]], width: int) -> None:
        self.model = model
        self.sources = sources
        self.width = width
        self.fed: list[tuple[int, ...]] = [()] * (len(sources) * width)
        self.returned: Candidates | None = None

    @property
    def sentences(self) -> int:
        return len(self.sources)

    @property
    def source_len(self) -> int:
        return max(map(len, self.sources))

    def step(self, last_ids: Int64, k: int) -> Candidates:
        self.model.check(self.sources)
        self.model.batch_sizes.append(len(self.fed))
        assert last_ids.shape == (len(self.fed),)
        self.fed = [(*fed, int(last)) for fed, last in zip(self.fed, last_ids, strict=True)]
        if self.returned:  # what was returned holds until the next step, not longer
            self.returned.ids[:], self.returned.log_probs[:] = -1, np.nan
        rows = [self.model.rule(self.sources[row // self.width], fed) for row, fed in enumerate(self.fed)]
        log_probs = np.stack(rows)
        ids = np.argsort(-log_probs, axis=1, kind="stable")[:, :k]
        self.returned = Candidates(ids, np.take_along_axis(log_probs, ids, axis=1))
        return self.returned

    def reorder(self, parents: Int64) -> None:
        assert (parents // self.width == np.arange(len(self.fed)) // self.width).all()
        self.fed = [self.fed[parent] for parent in parents]

    def keep(self, sentences: Sequence[int]) -> None:
        self.fed = [self.fed[sentence * self.width + row] for sentence in sentences for row in range(self.width)]
        self.sources = [self.sources[sentence] for sentence in sentences]

    def join(self, other: "ScriptedDecoding") -> None:
        assert other.width == self.width
        self.sources += other.sources
        self.fed += other.fed

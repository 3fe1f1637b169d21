"""What a model loses without some of its heads (Michel et al. 2019, "Are sixteen heads really better than one?")."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from sacrebleu.metrics.bleu import BLEU

from app.engine.hypotheses import SearchOptions
from app.engine.step_model import ModelLimits
from app.text.normalise import normalise
from app.text.tokenizer import Tokenizer
from model.batching import Batch, collate
from model.layers import MultiHeadAttention
from model.scoring import search_all
from model.step_model import TorchStepModel
from model.transformer import Transformer
from model.validate import mean_nll

Family = Literal["encoder", "decoder", "cross"]
FAMILIES: tuple[Family, ...] = get_args(Family)
_BOOTSTRAP_SAMPLES = 300
_BATCH_EXAMPLES = 32


@dataclass(frozen=True)
class Head:
    """One attention head."""

    family: Family
    layer: int
    head: int


@dataclass(frozen=True)
class Task:
    """Held-out pairs as ids, in both directions: sources with tag and end, targets with beginning and end."""

    sources: tuple[tuple[int, ...], ...]
    targets: tuple[tuple[int, ...], ...]
    references: tuple[str, ...]


def make_task(pairs: Iterable[tuple[str, str]], tokenizer: Tokenizer, languages: Sequence[str]) -> Task:
    """Both directions of ``pairs``, shortest first."""
    special = tokenizer.special_ids
    rows = []
    for pair in pairs:
        texts = [normalise(text) for text in pair]
        for side in (0, 1):
            source = tokenizer.encode_source(texts[side], languages[1 - side])
            target = (special.bos, *tokenizer.encode(texts[1 - side]), special.eos)
            rows.append((tuple(source), target, texts[1 - side]))
    rows.sort(key=lambda row: len(row[0]) + len(row[1]))
    return Task(*(tuple(column) for column in zip(*rows, strict=True)))


def attentions(transformer: Transformer, family: Family) -> list[MultiHeadAttention]:
    """The attention of every layer of a family."""
    if family == "cross":
        return [layer.cross_attention for layer in transformer.decoder]  # type: ignore[misc]
    stack = transformer.encoder if family == "encoder" else transformer.decoder
    return [layer.self_attention for layer in stack]  # type: ignore[misc]


def all_heads(transformer: Transformer) -> list[Head]:
    """Every head of every family."""
    heads = range(transformer.config.heads)
    return [
        Head(family, layer, head)
        for family in FAMILIES
        for layer in range(len(attentions(transformer, family)))
        for head in heads
    ]


@torch.no_grad()
def without(transformer: Transformer, muted: Iterable[Head]) -> Transformer:
    """A copy in which the output of some heads counts for nothing: the rows of ``W_O`` that read them are zero."""
    copied = copy.deepcopy(transformer)
    width = transformer.config.head_dim
    for head in muted:
        output = attentions(copied, head.family)[head.layer].output
        output.weight[:, head.head * width : (head.head + 1) * width] = 0
    return copied


def negative_log_likelihood(transformer: Transformer, task: Task, pad: int) -> float:
    """Mean over target pieces, teacher-forced, in nats; float32, because one head changes little."""
    return mean_nll(transformer, _batches(task, pad))


def bleu(transformer: Transformer, limits: ModelLimits, task: Task, tokenizer: Tokenizer) -> tuple[float, float]:
    """BLEU of greedy translations, both directions together, and half of its 95 % interval (bootstrap)."""
    options = SearchOptions(1, 1.0, 0, limits.target_len)
    found = search_all(TorchStepModel(transformer, limits), task.sources, options)
    texts = [tokenizer.decode(hypothesis.ids) for hypothesis in found]
    score = BLEU().corpus_score(texts, [list(task.references)], n_bootstrap=_BOOTSTRAP_SAMPLES)
    return float(score.score), float(score._ci)


def _batches(task: Task, pad: int) -> Iterable[Batch]:
    for start in range(0, len(task.sources), _BATCH_EXAMPLES):
        part = slice(start, start + _BATCH_EXAMPLES)
        yield collate(task.sources[part], task.targets[part], pad)

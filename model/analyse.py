"""What the heads of a model do: ``python -m model.analyse CHECKPOINT PAIRS.tsv OUT.json``.

PAIRS are held-out pairs (``model.held_out``), two columns. For every head: entropy, confidence, where it looks, how far
it is from the other heads of its layer, how well it aligns (cross-attention), and how much the loss rises when it is
muted; BLEU without each of the heads that matter most and least; BLEU against the share of heads kept, per family.
Beside a model as ``analysis.json``, ``/info`` serves it, and the page can sort its grid of heads by importance.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from app.engine.step_model import ModelLimits
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model.align import report as alignment_report
from model.checkpoint import Checkpoint, load_checkpoint
from model.corpus import read_columns
from model.head_importance import (
    FAMILIES,
    Family,
    Head,
    Task,
    all_heads,
    bleu,
    make_task,
    negative_log_likelihood,
    without,
)
from model.head_statistics import Counted, count, role
from model.step_model import limits_of
from model.transformer import Transformer

T = TypeVar("T")
_EXTREMES = 10
_KEPT_SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True)
class Subject:
    """A model under analysis and what it is measured on."""

    transformer: Transformer
    tokenizer: Tokenizer
    limits: ModelLimits
    task: Task
    pad: int


def subject(checkpoint: Checkpoint, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> Subject:
    """Gets a checkpoint and its held-out pairs ready."""
    training = checkpoint.config.training
    limits = limits_of(checkpoint.config.transformer, training.max_pieces, tokenizer.special_ids)
    task = make_task(pairs, tokenizer, training.languages)
    return Subject(checkpoint.transformer(), tokenizer, limits, task, tokenizer.special_ids.pad)


@torch.no_grad()
def statistics(on: Subject) -> dict[str, list[Counted]]:
    """By family, one count for each layer."""
    found: dict[str, list[Counted]] = {}
    examples = list(zip(on.task.sources, on.task.targets, strict=True))
    for source, target in progress(examples, "attention"):
        ids, fed = torch.tensor([source]), torch.tensor([target[:-1]])
        _, attention = on.transformer.explain(ids, torch.ones_like(ids, dtype=torch.bool), fed)
        of_source = (0, len(source) - 1)
        special = {"encoder": of_source, "decoder": (0,), "cross": of_source}
        for family in FAMILIES:
            maps = getattr(attention, family)[0].numpy()
            layers = [count(layer, special[family]) for layer in maps]
            known = found.get(family)
            found[family] = [one + other for one, other in zip(known, layers, strict=True)] if known else layers
    return found


def importance(on: Subject) -> tuple[float, dict[Head, float]]:
    """The loss with all heads, and for each head by how much it rises without it, in nats a piece."""
    whole = negative_log_likelihood(on.transformer, on.task, on.pad)
    rises = {}
    for head in progress(all_heads(on.transformer), "loss without a head"):
        rises[head] = negative_log_likelihood(without(on.transformer, [head]), on.task, on.pad) - whole
    return whole, rises


def extremes(on: Subject, rises: dict[Head, float]) -> list[dict[str, Any]]:
    """BLEU without each of the heads whose loss matters most, and least."""
    ordered = sorted(rises, key=lambda head: rises[head], reverse=True)
    chosen = list(dict.fromkeys(ordered[:_EXTREMES] + ordered[-_EXTREMES:]))
    rows = []
    for head in progress(chosen, "BLEU without a head"):
        score, interval = bleu(without(on.transformer, [head]), on.limits, on.task, on.tokenizer)
        rows.append({**vars(head), "bleu": round(score, 2), "interval": round(interval, 2)})
    return rows


def pruning(on: Subject, rises: dict[Head, float]) -> dict[Family, list[dict[str, float]]]:
    """BLEU against the share of heads kept: those that matter least are muted first, one family at a time."""
    curves: dict[Family, list[dict[str, float]]] = {}
    steps = [(family, share) for family in FAMILIES for share in _KEPT_SHARES]
    for family, share in progress(steps, "pruning"):
        ordered = sorted((head for head in rises if head.family == family), key=lambda head: rises[head])
        muted = ordered[: round((1 - share) * len(ordered))]
        score, interval = bleu(without(on.transformer, muted), on.limits, on.task, on.tokenizer)
        point = {"kept": len(ordered) - len(muted), "bleu": round(score, 2), "interval": round(interval, 2)}
        curves.setdefault(family, []).append(point)
    return curves


def analyse(checkpoint: Checkpoint, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Everything, as plain values for JSON."""
    on = subject(checkpoint, tokenizer, pairs)
    counted = statistics(on)
    whole, rises = importance(on)
    score, interval = bleu(on.transformer, on.limits, on.task, tokenizer)
    return {
        "pairs": len(pairs),
        "examples": len(on.task.sources),
        "nll": round(whole, 4),
        "bleu": round(score, 2),
        "interval": round(interval, 2),
        "heads": [_head_record(head, counted[head.family][head.layer], rise) for head, rise in rises.items()],
        "importance": {family: _by_layer(rises, family, len(counted[family])) for family in FAMILIES},
        "distance": {family: [_mean_distance(layer) for layer in layers] for family, layers in counted.items()},
        "without_one": extremes(on, rises),
        "pruning": pruning(on, rises),
        "alignment": alignment_report(on.transformer, tokenizer, pairs, checkpoint.config.training.languages),
    }


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """Passes items on and shows on stderr how far it has come."""
    known = list(items)
    for number, item in enumerate(known, start=1):
        yield item
        print(f"\r{what} {number:,}/{len(known):,}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _head_record(head: Head, layer: Counted, rise: float) -> dict[str, Any]:
    previous, itself, following = (layer.offsets[head.head] / layer.queries).round(4).tolist()
    return {
        **vars(head),
        "entropy": round(layer.entropy[head.head] / layer.queries, 4),
        "confidence": round(layer.confidence[head.head] / layer.queries, 4),
        "special": round(layer.special[head.head] / layer.queries, 4),
        "previous": previous,
        "itself": itself,
        "next": following,
        "role": role(layer, head.head) if head.family != "cross" else "",
        "importance": round(rise, 5),
    }


def _by_layer(rises: dict[Head, float], family: Family, layers: int) -> list[list[float]]:
    """``[layer][head]``."""
    return [
        [round(rise, 5) for head, rise in rises.items() if (head.family, head.layer) == (family, layer)]
        for layer in range(layers)
    ]


def _mean_distance(layer: Counted) -> float:
    """Over all pairs of different heads."""
    heads = len(layer.entropy)
    pairs = layer.distance[np.triu_indices(heads, 1)] / layer.queries
    return round(float(pairs.mean()), 4) if pairs.size else 0.0


def main() -> None:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, help="with its tokenizer beside it")
    parser.add_argument("pairs", type=Path, help="held-out pairs, two columns")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    tokenizer = Tokenizer(arguments.checkpoint.parent / TOKENIZER_FILE)
    found = analyse(load_checkpoint(arguments.checkpoint), tokenizer, read_columns(arguments.pairs))
    arguments.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

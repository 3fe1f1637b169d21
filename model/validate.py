"""Validation during training: loss on held-out pairs, and BLEU and chrF of their greedy translations."""

from collections.abc import Iterable

import torch

from app.engine.hypotheses import SearchOptions
from app.text.tokenizer import Tokenizer
from model.batching import Batch, BatchMaker
from model.config import ConfigError, RunConfig, TrainingConfig
from model.dataset import Corpus
from model.loss import smoothed_cross_entropy
from model.scoring import score, search_all
from model.step_model import TorchStepModel, limits_of
from model.transformer import Transformer


def check_validation_corpus(training: TrainingConfig, corpora: list[Corpus]) -> None:
    """Refuses a configuration whose validation corpus is not there or holds nothing out.

    Raises:
        ConfigError: naming those that are there.
    """
    known = sorted(corpus.name for corpus in corpora)
    if training.validation_corpus and training.validation_corpus not in known:
        raise ConfigError(f"training.validation_corpus must be one of {known}, not {training.validation_corpus!r}")
    if any(corpus.name == training.validation_corpus and not corpus.held_out for corpus in corpora):
        told = f"training.held_out_pairs is {training.held_out_pairs}, a tenth of the pairs at most"
        raise ConfigError(f"training.validation_corpus {training.validation_corpus!r} holds nothing out: {told}")


def check_lengths(config: RunConfig) -> None:
    """Refuses a model that cannot read what its training reads: tag, pieces and end of sentence.

    Raises:
        ConfigError: naming how many pieces would fit.
    """
    room = config.transformer.max_positions - 2
    if config.training.max_pieces > room:
        told = f"transformer.max_positions {config.transformer.max_positions}, not {config.training.max_pieces}"
        raise ConfigError(f"training.max_pieces must be at most {room} with {told}")


def validate(
    transformer: Transformer, batches: BatchMaker, corpora: list[Corpus], tokenizer: Tokenizer, training: TrainingConfig
) -> dict[str, float]:
    """``nll_<corpus>`` in nats per piece for every corpus; ``bleu_en_fr``, ``chrf_en_fr`` and the other way.

    A run with noise on its sources has ``nll_noisy_<corpus>`` too, with all sources noisy. The translations are of the
    first ``validation_sentences`` held-out pairs of ``validation_corpus``; without one there are none.
    """
    transformer.eval()
    record = {
        f"nll_{corpus.name}": _held_out_nll(transformer, batches, number)
        for number, corpus in enumerate(corpora)
        if corpus.held_out
    }
    if training.source_noise:
        record |= {
            f"nll_noisy_{corpus.name}": _held_out_nll(transformer, batches, number, source_noise=1.0)
            for number, corpus in enumerate(corpora)
            if corpus.held_out
        }
    if training.validation_corpus:
        by_name = {corpus.name: corpus for corpus in corpora}
        record |= _translation_scores(transformer, by_name[training.validation_corpus], tokenizer, training)
    return record


@torch.no_grad()
def mean_nll(transformer: Transformer, batches: Iterable[Batch]) -> float:
    """Negative log-likelihood, teacher-forced: mean over the target pieces of all ``batches``, in nats."""
    device = next(transformer.parameters()).device
    total, pieces = 0.0, 0
    for batch in batches:
        batch = batch.to(device)
        memory = transformer.encode(batch.source_ids, batch.source_mask)
        states = transformer.decode(batch.target_ids, memory, batch.source_mask)
        real = states.flatten(0, 1).index_select(0, batch.real_positions)
        _, nll = smoothed_cross_entropy(real, transformer.projection.weight, batch.next_ids, 0.0)
        total += nll.item() * len(batch.next_ids)
        pieces += len(batch.next_ids)
    return total / pieces


def _held_out_nll(transformer: Transformer, batches: BatchMaker, corpus: int, source_noise: float = 0.0) -> float:
    device = next(transformer.parameters()).device
    with torch.autocast(device.type, dtype=torch.bfloat16):
        return round(mean_nll(transformer, batches.held_out(corpus, source_noise)), 4)


def _translation_scores(
    transformer: Transformer, corpus: Corpus, tokenizer: Tokenizer, training: TrainingConfig
) -> dict[str, float]:
    special = tokenizer.special_ids
    model = TorchStepModel(transformer, limits_of(transformer.config, training.max_pieces, special))
    options = SearchOptions(beam_size=1, length_penalty=1.0, alternatives=0, target_len=model.limits.target_len)
    pairs = range(min(corpus.held_out, training.validation_sentences))
    record = {}
    for side in (0, 1):
        source, target = training.languages[side], training.languages[1 - side]
        tag = tokenizer.tag_id(target)
        sources = [[tag, *corpus.sides[side][pair].tolist(), special.eos] for pair in pairs]
        references = [tokenizer.decode(corpus.sides[1 - side][pair].tolist()) for pair in pairs]
        found = [tokenizer.decode(hypothesis.ids) for hypothesis in search_all(model, sources, options)]
        scores = score(found, references)
        record[f"bleu_{source}_{target}"] = round(scores.bleu, 2)
        record[f"chrf_{source}_{target}"] = round(scores.chrf, 2)
    return record

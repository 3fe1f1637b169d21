import random
from pathlib import Path

import pytest
import torch

from app.text.tokenizer import Tokenizer
from model.tokenizer import train_tokenizer
from tests.model.tiny import WORDS, tiny_config

# Threads cost more than they bring at these sizes, most of all on busy cores.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small corpora of made-up pairs: ``first`` with 120, ``second`` with 40."""
    folder = tmp_path_factory.mktemp("corpora")
    source = random.Random(7)
    for name, pairs in (("first", 120), ("second", 40)):
        lines = []
        for number in range(pairs):
            words = source.choices(list(WORDS), k=source.randint(2, 9))
            lines.append(f"{' '.join(words)} {number}\t{' '.join(WORDS[word] for word in words)} {number}\n")
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def tokenizer_path(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    train_tokenizer(tiny_config(), corpora, path)
    return path


@pytest.fixture(scope="session")
def tokenizer(tokenizer_path: Path) -> Tokenizer:
    return Tokenizer(tokenizer_path)

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model import align
from model.align import Word, aligned, anchors, words
from model.checkpoint import Checkpoint, save_checkpoint
from model.transformer import Transformer
from tests.model.tiny import tiny_config


def test_words_are_pieces_up_to_the_next_space() -> None:
    assert words(["▁", "«", "▁Bos", "ton", ",", "▁2", "4", ".", "▁»"]) == [
        Word("", (0, 1)),
        Word("Boston", (2, 3, 4)),
        Word("24", (5, 6, 7)),
        Word("", (8,)),
    ]


def test_anchors_stand_once_on_each_side_and_are_no_accident() -> None:
    source = [Word(text, ()) for text in ("a", "Tom", "cat", "24", "sings", "Tom", "X", "table")]
    target = [Word(text, ()) for text in ("24", "X", "a", "cat", "Tom", "table", "chante")]
    assert anchors(source, target) == [(3, 0), (6, 1), (7, 5)]


def test_a_map_is_read_by_the_row_that_predicts_or_by_the_row_that_is_fed() -> None:
    source = [Word("one", (0,)), Word("Tom", (1, 2)), Word("two", (3,))]
    # Keys: tag, four pieces, end. Queries: beginning, then four pieces.
    cross = np.full((1, 2, 5, 6), 0.1, dtype=np.float32)
    cross[0, 0, 2, 2:4] = 0.3  # head 0: the row that is fed piece 1 looks at Tom
    cross[0, 1, 1, 2:4] = 0.3  # head 1: the row that predicts piece 1
    cross[0, 0, 1, 4] = cross[0, 1, 2, 4] = 0.9
    target = Word("Tom", (1,))
    assert aligned(cross, source, target, anchor=1, shift=1).tolist() == [[True, False]]
    assert aligned(cross, source, target, anchor=1, shift=0).tolist() == [[False, True]]


def test_the_recommended_layer_and_rule_are_those_that_align_best(
    tokenizer: Tokenizer, tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config()
    torch.manual_seed(0)
    weights = Transformer(config.transformer).state_dict()
    save_checkpoint(Checkpoint(config, weights, 1, 1), tmp_path / "step.pt")
    (tmp_path / TOKENIZER_FILE).write_bytes(tokenizer_path.read_bytes())
    (tmp_path / "pairs.tsv").write_text(
        "the cat sees 24 X1\tle chat voit 24 X1\nthe bird\tle oiseau\n", encoding="utf-8"
    )
    output = tmp_path / "alignment.json"
    arguments = ["align", str(tmp_path / "step.pt"), str(tmp_path / "pairs.tsv"), str(output)]
    monkeypatch.setattr("sys.argv", arguments)
    align.main()
    found = json.loads(output.read_text(encoding="utf-8"))
    shifted = found["rules"]["shifted"]
    assert found["pairs"] == 2
    assert {direction: quality["anchors"] for direction, quality in shifted.items()} == {"en-fr": 2, "fr-en": 2}
    by_rule = {
        rule: np.mean([quality["layers"] for quality in directions.values()], axis=0)
        for rule, directions in found["rules"].items()
    }
    chosen = by_rule[found["alignment_rule"]]
    assert chosen[found["alignment_layer"]] == max(one.max() for one in by_rule.values())
    assert np.shape(shifted["en-fr"]["heads"]) == (2, 4)

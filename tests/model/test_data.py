import bz2
import dataclasses
import gzip
import lzma
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from model import tokenise
from model.batching import Batch, BatchMaker
from model.config import ConfigError, RunConfig
from model.corpus import FilterCounts, corpus_files, read_columns, read_pairs
from model.dataset import Corpus, prepare
from model.held_out import held_out_pairs
from model.noise import SourceNoise
from tests.model.tiny import tiny_config

TEXT = "A cat.\tUn chat.\nIt’s\u00a0here.\tC’est ici.\n"


@pytest.mark.parametrize(
    ("suffix", "compress"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_every_compression_reads_alike(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / f"books.tsv{suffix}").write_bytes(compress(TEXT.encode()))
    counts = FilterCounts()
    pairs = list(read_pairs(corpus_files(tmp_path)["books"], counts))
    assert pairs == [("A cat.", "Un chat."), ("It's here.", "C'est ici.")]
    assert str(counts) == "kept 2; dropped 0"


def test_filters_count_what_they_drop_and_why(tmp_path: Path) -> None:
    lines = [
        "good\tbon",
        "one column",
        "a\tb\tc",
        "\tvide",
        " \u200b\tinvisible",
        "broken \ufffd\tcassé",
        "x" * 2_001 + "\t" + "y" * 1_999,
        "short\tand this one is far too long to be its translation",
        "yes\tassurément oui",  # a large ratio of short texts says nothing
    ]
    path = tmp_path / "books.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    counts = FilterCounts()
    assert [pair[0] for pair in read_pairs(path, counts)] == ["good", "yes"]
    assert counts.kept == 2
    assert counts.dropped == {
        "not two columns": 2,
        "empty side": 2,
        "broken encoding": 1,
        "too long": 1,
        "length ratio": 1,
    }


def test_sentences_of_test_sets_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "books.tsv"
    path.write_text("A cat!\tun tigre\na dog\tUn Chat.\na bird\tun oiseau\n", encoding="utf-8")
    counts = FilterCounts()
    assert list(read_pairs(path, counts, [{"acat"}, {"unchat"}])) == [("a bird", "un oiseau")]
    assert counts.dropped == {"in a test set": 2}


def test_folders_without_corpora_or_with_two_of_a_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \*.tsv"):
        corpus_files(tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "books.tsv").write_text(TEXT, encoding="utf-8")
    with pytest.raises(ConfigError, match="two corpora are named 'books'"):
        corpus_files(tmp_path)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "corpora"
    folder.mkdir()
    (folder / "books.tsv").write_text("the cat\tle chat\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("key", "max_pieces", "excluded", "text"),
    [
        ("max_pieces", 41, (), ""),
        ("excluded", 40, ({"thecat"}, set[str]()), ""),
        ("corpora", 40, (), "the dog\tle chien\n"),
    ],
)
def test_text_that_was_tokenised_otherwise_is_refused(
    books: Path,
    tokenizer: Tokenizer,
    tmp_path: Path,
    key: str,
    max_pieces: int,
    excluded: Sequence[set[str]],
    text: str,
) -> None:
    data = tmp_path / "data"
    prepare(tiny_config(), books, tokenizer, data)
    prepare(tiny_config(), books, tokenizer, data)
    with (books / "books.tsv").open("a", encoding="utf-8") as file:
        file.write(text)
    with pytest.raises(ConfigError, match=rf"books\.json was made with {key}"):
        prepare(tiny_config(max_pieces=max_pieces), books, tokenizer, data, excluded)


def test_a_corpus_that_changes_makes_the_others_anew(books: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    """What one holds out must not stand in another, as long as that is the same or not."""
    other = books / "news.tsv"
    other.write_text("a dog\tun chien\n", encoding="utf-8")
    prepare(tiny_config(), books, tokenizer, tmp_path / "data")
    other.write_text("the cat\tun tigre\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"books\.json was made with corpora books:\w+ news:\w+, now it is"):
        prepare(tiny_config(), books, tokenizer, tmp_path / "data")


def test_the_vocabulary_must_be_that_of_the_model(books: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config()
    larger = dataclasses.replace(config, transformer=dataclasses.replace(config.transformer, vocab_size=341))
    with pytest.raises(ConfigError, match="vocab_size must be the tokenizer's, 340, not 341"):
        prepare(larger, books, tokenizer, tmp_path / "data")


def test_columns_are_read_as_they_stand_or_the_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(" the cat\tle chat\nno tab\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"pairs\.tsv, line 2: every line must have 2 columns, this one has 1"):
        read_columns(path)
    path.write_text(" the cat\tle chat\n", encoding="utf-8")
    assert read_columns(path) == [(" the cat", "le chat")]


def batch_maker(corpora: list[Corpus], tokenizer: Tokenizer, weights: list[float], noise: float = 0.0) -> BatchMaker:
    tags = tokenizer.tag_id("en"), tokenizer.tag_id("fr")
    training = dataclasses.replace(tiny_config().training, source_noise=noise)
    return BatchMaker(corpora, weights, tags, tokenizer.special_ids, training, SourceNoise(tokenizer))


@pytest.fixture(scope="module")
def prepared(corpora: Path, tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> list[Corpus]:
    return prepare(tiny_config(), corpora, tokenizer, tmp_path_factory.mktemp("data"))


def examples(batches: list[Batch]) -> Counter[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Sources (tag and end included) with their targets (beginning and end included), as often as they occur."""
    found: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for batch in batches:
        following = iter(batch.next_ids.tolist())
        lengths = torch.bincount(batch.real_positions // batch.target_ids.shape[1]).tolist()
        for row, length in enumerate(lengths):
            fed = batch.target_ids[row, :length].tolist()
            predicted = [next(following) for _ in range(length)]
            assert fed[1:] == predicted[:-1]
            found[tuple(batch.source_ids[row, batch.source_mask[row]].tolist()), (*fed, predicted[-1])] += 1
    return found


def expected(corpus: Corpus, tokenizer: Tokenizer, pairs: range) -> Counter[tuple[tuple[int, ...], tuple[int, ...]]]:
    special, tags = tokenizer.special_ids, (tokenizer.tag_id("en"), tokenizer.tag_id("fr"))
    return Counter(
        (
            (tags[1 - side], *corpus.sides[side][pair].tolist(), special.eos),
            (special.bos, *corpus.sides[1 - side][pair].tolist(), special.eos),
        )
        for pair in pairs
        for side in (0, 1)
    )


def test_an_epoch_has_every_example_once_in_both_directions(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    batches = list(batch_maker(prepared, tokenizer, [1.0, 1.0]).epoch(0))
    everything = sum((expected(one, tokenizer, range(one.held_out, len(one))) for one in prepared), Counter())
    assert examples(batches) == everything
    assert [corpus.held_out for corpus in prepared] == [6, 4]


def test_noise_changes_a_share_of_the_sources_and_no_target(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    everything = sum((expected(one, tokenizer, range(one.held_out, len(one))) for one in prepared), Counter())
    maker = batch_maker(prepared, tokenizer, [1.0, 1.0], noise=0.25)
    found = examples(list(maker.epoch(0)))
    assert Counter(target for _, target in found.elements()) == Counter(target for _, target in everything.elements())
    unchanged = (found & everything).total() / everything.total()
    assert 0.7 < unchanged < 0.9
    assert examples(list(maker.epoch(0))) == found


def test_held_out_sources_are_clean_unless_noise_is_asked_for(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    maker = batch_maker(prepared, tokenizer, [1.0, 1.0], noise=0.25)
    clean = expected(prepared[0], tokenizer, range(prepared[0].held_out))
    assert examples(list(maker.held_out(0))) == clean
    noisy = [examples(list(maker.held_out(0, source_noise=1.0))) for _ in range(2)]
    assert noisy[0] == noisy[1] != clean


def test_no_batch_exceeds_the_token_budget(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    for batch in batch_maker(prepared, tokenizer, [1.0, 1.0], noise=1.0).epoch(3):
        assert batch.source_ids.numel() <= tiny_config().training.batch_tokens
        assert batch.target_ids.numel() <= tiny_config().training.batch_tokens


def test_weights_repeat_a_corpus_or_draw_a_part_of_it(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    maker = batch_maker(prepared, tokenizer, [0.25, 2.0])
    first, second = (expected(one, tokenizer, range(one.held_out, len(one))) for one in prepared)
    found = examples(list(maker.epoch(0)))
    assert sum(count for example, count in found.items() if example in second) == 2 * second.total()
    drawn = Counter({example: count for example, count in found.items() if example in first})
    # 28.5 of 114 pairs, both directions of each.
    assert drawn.total() == 2 * 28
    assert set(drawn.values()) == {1}


def test_epochs_are_shuffled_differently_but_reproducibly(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    maker = batch_maker(prepared, tokenizer, [1.0, 1.0])
    orders = [[tuple(batch.next_ids.tolist()) for batch in maker.epoch(number)] for number in (0, 0, 1)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_held_out_pairs_are_never_trained_on(prepared: list[Corpus], tokenizer: Tokenizer) -> None:
    maker = batch_maker(prepared, tokenizer, [1.0, 1.0])
    held_out = examples(list(maker.held_out(0)))
    assert held_out == expected(prepared[0], tokenizer, range(6))
    assert not held_out & examples(list(maker.epoch(0)))


def test_sentences_of_held_out_pairs_are_nowhere_else(tokenizer: Tokenizer, tmp_path: Path) -> None:
    folder = tmp_path / "corpora"
    folder.mkdir()
    words = ["cat", "dog", "bird", "apple", "house"]
    # The first ten pairs share a sentence with a later pair, or with another corpus, in every way there is.
    lines = [f"the {word} sings\t{word} chante" for word in words] + [f"a {word}!\tun {word}" for word in words]
    lines += [f"the {word} sings\tle {word} chante" for word in words] + [
        f"one {word}\tun {word}." for word in words[:3]
    ]
    lines += [f"we see {number}\tnous voyons {number}" for number in range(40)]
    (folder / "first.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "second.tsv").write_text("A apple\tpomme\nwe see 0\tvoir 0\na House\tmaison\n", encoding="utf-8")
    first, second = prepare(tiny_config(held_out_pairs=4), folder, tokenizer, tmp_path / "data")
    held_out = [tokenizer.decode(first.sides[0][pair].tolist()) for pair in range(first.held_out)]
    assert held_out == ["we see 1", "we see 2", "we see 3", "we see 4"]
    assert (len(first), len(second), second.held_out) == (len(lines), 3, 0)


def test_a_corpus_that_is_not_there_is_named(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    config = tiny_config()
    with pytest.raises(ConfigError, match="third"):
        prepare(RunConfig(config.transformer, corpora={"third": 1.0}), corpora, tokenizer, tmp_path)


def test_held_out_pairs_can_be_written_out(corpora: Path, tokenizer_path: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / TOKENIZER_FILE).write_bytes(tokenizer_path.read_bytes())
    prepare(tiny_config(), corpora, Tokenizer(tokenizer_path), run / "data")
    pairs = held_out_pairs(run, "first")
    lines = (corpora / "first.tsv").read_text(encoding="utf-8").splitlines()
    assert [f"{first}\t{second}" for first, second in pairs] == lines[:6]


def test_processes_make_what_one_makes(
    corpora: Path,
    tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Chunks of seven lines, of which some pairs are dropped and some held out."""
    config, excluded = tiny_config(max_pieces=12), [{"thecat1"}, set[str]()]
    made = []
    for processes in (1, 2):
        monkeypatch.setattr(tokenise, "_CHUNK_LINES", 7 if processes > 1 else 20_000)
        monkeypatch.setattr(tokenise, "usable_cores", lambda count=processes: count)
        folder = tmp_path / str(processes)
        prepare(config, corpora, tokenizer, folder, excluded)
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == told[2:]
    assert "too many pieces" in told[0]
    assert made[0] == made[1]


def test_what_a_process_raises_ends_the_preparation(
    corpora: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenise, "_CHUNK_LINES", 7)
    monkeypatch.setattr(tokenise, "usable_cores", lambda: 2)
    folder = tmp_path / "corpora"
    folder.mkdir()
    text = (corpora / "first.tsv").read_bytes()
    (folder / "first.tsv").write_bytes(text + b"caf\xe9\tcoffee\n")
    with pytest.raises(UnicodeDecodeError):
        prepare(tiny_config(), folder, tokenizer, tmp_path / "data")
    assert not list((tmp_path / "data").glob("*.json"))


def test_an_empty_corpus_is_one_without_pairs(corpora: Path, tokenizer: Tokenizer, tmp_path: Path) -> None:
    folder = tmp_path / "corpora"
    folder.mkdir()
    (folder / "first.tsv").write_bytes((corpora / "first.tsv").read_bytes())
    (folder / "none.tsv").write_bytes(b"")
    first, none = prepare(tiny_config(), folder, tokenizer, tmp_path / "data")
    assert (len(none), none.held_out) == (0, 0)
    assert len(first) == 120

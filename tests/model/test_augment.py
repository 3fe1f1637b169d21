import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from model import augment, corpus
from model.augment import Change, Changes, augmented, copied_names
from model.config import ConfigError
from model.corpus import Pair
from model.short_texts import ShortTexts
from model.verbatim import Verbatim

NAMES = ["Tom", "Boston", "Anna", "Marc"]
WORDS = [("cats", "chats"), ("black", "noirs"), ("has", "a")]
VERBATIM = Verbatim([("cat", "chat")])
SHORT = ShortTexts([("Thank you!", "Merci !")], [("cat", "chat")], VERBATIM)
PAIR = ("Tom has 25 cats.", "Tom a 25 chats.")


def change(kind: str, pair: Pair = PAIR, seed: int = 0) -> Pair | None:
    method: Change = getattr(Changes(NAMES, WORDS, VERBATIM), kind)
    return method(pair, random.Random(seed))


def test_names_are_capitalised_words_inside_both_sentences() -> None:
    pairs = [("I saw Boston.", "J'ai vu Boston."), ("Yes, Paris it is.", "Oui, c'est Rome.")] * 3
    assert copied_names([*pairs, ("I saw Rio.", "J'ai vu Rio.")]) == ["Boston"]


def test_a_word_that_stands_more_often_in_small_letters_is_no_name() -> None:
    named = [("The Town Hall of Oslo", "Le Town Hall d'Oslo")] * 3
    assert copied_names([*named, *[("a town, a hall", "une ville")] * 4]) == ["Oslo"]
    assert set(copied_names([*named, *[("a town, a hall", "une ville")] * 2])) == {"Town", "Hall", "Oslo"}


def test_a_name_is_replaced_alike_and_never_by_one_that_french_would_elide() -> None:
    others = set()
    for seed in range(60):
        changed = change("rename", seed=seed)
        assert changed is not None
        first, second = (text.partition(verb)[0] for text, verb in zip(changed, (" has", " a 25"), strict=True))
        assert first == second
        others.add(first)
    assert {"Tom", "Boston", "Marc"} < others
    assert "Anna" not in others
    assert change("rename", ("Il pleut.", "It rains.")) is None


def test_numbers_change_alike_and_keep_their_length() -> None:
    changed = change("renumber")
    assert changed is not None
    number = changed[0].split()[2]
    assert changed == (f"Tom has {number} cats.", f"Tom a {number} chats.")
    assert len(number) == 2
    assert change("renumber", ("At 10.", "À dix.")) is None
    last = change("renumber", ("At 1050.", "À 1050."))
    assert last is not None
    assert last[0].removeprefix("At ") == last[1].removeprefix("À ") != "1050."
    assert change("renumber", ("At 10.50.", "À 10.50.")) is None
    assert change("renumber", ("The 21st.", "Le 21e.")) is None
    assert change("renumber", ("On 2024-01-02.", "Le 2024-01-02.")) is None


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        ("lower", lambda pair: pair[0].startswith("tom has 25 cats") and pair[1].startswith("tom a 25 chats")),
        ("unfinished", lambda pair: pair == ("Tom has 25 cats", "Tom a 25 chats")),
        ("list_item", lambda pair: pair[0].removesuffix(PAIR[0]) == pair[1].removesuffix(PAIR[1]) != ""),
        ("quoted", lambda pair: PAIR[0] in pair[0] and PAIR[1] in pair[1] and pair[0] != PAIR[0]),
        ("with_emoji", lambda pair: pair[0].split("cats")[1] == pair[1].split("chats")[1] != "."),
        ("with_address", lambda pair: pair[0].removeprefix(PAIR[0]) == pair[1].removeprefix(PAIR[1]) != ""),
    ],
)
def test_both_sides_change_alike(kind: str, holds: Callable[[Pair], bool]) -> None:
    for seed in range(10):
        changed = change(kind, seed=seed)
        assert changed is not None
        assert holds(changed)


def test_a_placeholder_stands_for_the_number_or_the_name_on_both_sides() -> None:
    placed, both = set(), 0
    for seed in range(80):
        changed = change("placed", seed=seed)
        assert changed is not None
        found = [
            re.fullmatch(pattern, text)
            for pattern, text in zip((r"(.+) has (.+) cats\.", r"(.+) a (.+) chats\."), changed, strict=True)
        ]
        assert found[0]
        assert found[1]
        assert found[0].groups() == found[1].groups()
        name, number = found[0].groups()
        both += name != "Tom" and number != "25"
        placed |= {name, number} - {"Tom", "25"}
    assert 20 < both < 80
    assert {"%s", "{0}"} < placed
    assert any(word.startswith("{{") for word in placed)
    assert change("placed", ("It rains.", "Il pleut.")) is None
    assert change("placed", ("2 and 25 and 25", "2 et 25")) is None


def test_markup_stands_around_translations_a_name_or_everything_on_both_sides() -> None:
    drawn = [change("marked", seed=seed) for seed in range(200)]
    assert ("Tom <b>has</b> 25 cats.", "Tom <b>a</b> 25 chats.") in drawn
    assert ("Tom has 25 <em>cats</em>.", "Tom a 25 <em>chats</em>.") in drawn
    two = [change("marked", ("The black cats.", "Les chats noirs."), seed) for seed in range(200)]
    assert ("The <b>black cats</b>.", "Les <b>chats noirs</b>.") in two
    assert ("The <b>black</b> cats.", "Les chats <b>noirs</b>.") in two
    assert not any(one and "</b> <b>" in one[0] for one in two)
    twice = [change("marked", ("Cats are cats.", "Les chats."), seed) for seed in range(40)]
    assert all(one is None or "Cats are cats." in one[0] for one in twice)
    assert ("**Tom has 25 cats.**", "**Tom a 25 chats.**") in drawn
    assert ("**Tom** has 25 cats.", "**Tom** a 25 chats.") in drawn
    assert ("<p>Tom has 25 cats.</p>", "<p>Tom a 25 chats.</p>") in drawn


def test_as_many_pairs_as_asked_for_and_the_same_each_time() -> None:
    first, second = (
        list(augmented([PAIR, ("Yes.", "Oui.")], Changes(NAMES, WORDS, VERBATIM), SHORT, 200)) for _ in range(2)
    )
    assert first == second
    assert len(first) == 200
    assert any(source == target for source, target in first)
    assert ("Thank you!", "Merci !") in first
    assert any(source != "Thank you!" and "hank you" in source for source, _ in first)


def test_pairs_that_may_be_held_out_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LEFT_ALONE", 2)
    lines = ["held one\ttenu un", "held two\ttenu deux", *["we saw Boston\tnous vîmes Boston"] * 9]
    (tmp_path / "books.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    output, lexicon = tmp_path / "out", tmp_path / "lexicon"
    lexicon.write_text("window\tfenêtre\n", encoding="utf-8")
    arguments = [str(tmp_path), str(output), "--lexicon", str(lexicon), "--pairs", "100"]
    monkeypatch.setattr("sys.argv", ["augment", *arguments])
    augment.main()
    written = output.read_text(encoding="utf-8")
    assert len(written.splitlines()) == 100
    assert "boston" in written.lower()
    assert "held" not in written.lower()
    assert "fenêtre" in written.lower()


def test_test_sets_and_what_was_written_before_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "LEFT_ALONE", 0)
    lines = ["we saw Boston\tnous vîmes Boston"] * 9 + ["A tested Boston.\tUn Boston éprouvé."] * 9
    (tmp_path / "books.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sets, output, lexicon = tmp_path / "sets", tmp_path / "robust.tsv", tmp_path / "lexicon"
    sets.mkdir()
    (sets / "news.en").write_text("a tested boston\n", encoding="utf-8")
    lexicon.write_text("window\tfenêtre\n", encoding="utf-8")
    arguments = [str(tmp_path), str(output), "--lexicon", str(lexicon), "--exclude", str(sets), "--pairs", "100"]
    monkeypatch.setattr("sys.argv", ["augment", *arguments])
    augment.main()
    written = output.read_text(encoding="utf-8")
    assert "tested" not in written.lower()
    augment.main()
    assert output.read_text(encoding="utf-8") == written


def test_corpora_from_which_nothing_can_be_made_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "books.tsv").write_text("we saw Boston\tnous vîmes Boston\n", encoding="utf-8")
    lexicon = tmp_path / "lexicon"
    lexicon.write_text("window\tfenêtre\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["augment", str(tmp_path), str(tmp_path / "out"), "--lexicon", str(lexicon)])
    with pytest.raises(ConfigError, match=r"no corpus in .* has more than 5,000 pairs"):
        augment.main()
    monkeypatch.setattr(corpus, "LEFT_ALONE", 0)
    with pytest.raises(ConfigError, match="no name stands on both sides of 3 pairs"):
        augment.main()

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from app.attention.alignment import Alignment, AlignmentRule
from app.attention.signals import Signal, SignalWord, Thresholds, find_signals
from app.text.words import word_spans

DEFAULTS = Thresholds()


def words(text: str) -> list[SignalWord]:
    found, position = [], 0
    for index, word in enumerate(text.split()):
        found.append(SignalWord(word, (position, position + len(word)), (index,)))
        position += len(word) + 1
    return found


def real_words(text: str) -> list[SignalWord]:
    return [SignalWord(text[slice(*span)], span, (index,)) for index, span in enumerate(word_spans(text, "en"))]


def signals(
    source: str,
    target: str,
    soft: list[list[float]] | None = None,
    log_prob: float = 0.0,
    thresholds: Thresholds = DEFAULTS,
    cut: Callable[[str], list[SignalWord]] = words,
) -> list[Signal]:
    given, written = cut(source), cut(target)
    weights = np.full((len(written), len(given)), 0.5) if soft is None else np.array(soft)
    alignment = Alignment(AlignmentRule(0), weights.astype(np.float32), (), weights.astype(np.float32))
    cross = np.full((1, 2, len(written) + 1, len(given) + 1), 0.25, dtype=np.float32)
    log_probs = np.full(len(written) + 1, log_prob, np.float32)
    found = find_signals(alignment, cross, log_probs, given, written, thresholds)
    assert (found.mean_logprob, found.eos_mass) == (log_prob, 0.25)
    return list(found.found)


def kinds(found: list[Signal]) -> list[tuple[str, int, int]]:
    return [(one.kind, one.first, one.last) for one in found]


def test_words_that_nobody_looks_at() -> None:
    found = signals("the cat .", "le chat", [[0.6, 0.02, 0.0], [0.3, 0.02, 0.0]])
    assert found == [Signal("ignored_source", "source", 1, 1, (4, 7), pytest.approx(0.04), DEFAULTS.ignored_source)]


def test_words_that_look_nowhere() -> None:
    found = signals("the cat", "le chat !", [[0.6, 0.3], [0.05, 0.05], [0.0, 0.0]])
    assert kinds(found) == [("unsourced_target", 1, 1)]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("I saw it", "je l ai vu ai vu", [("repetition", 2, 5)]),
        ("he is very very old", "il est très très vieux", []),
        ("he is old", "il est vieux vieux", [("repetition", 2, 3)]),
        ("we wash", "nous nous lavons", []),
        ("no !", "non ! ! !", []),
    ],
)
def test_phrases_said_twice(source: str, target: str, expected: list[tuple[str, int, int]]) -> None:
    assert kinds(signals(source, target)) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("the cat is noir", [("copy_through", 0, 2)]),
        ("le cat est noir", []),
        ("Le chat the cat is", [("copy_through", 2, 4)]),
    ],
)
def test_words_left_as_they_were(target: str, expected: list[tuple[str, int, int]]) -> None:
    assert kinds(signals("the cat is black", target)) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("8,733 km", "8 733 km", []),
        ("8,733 km", "8 73 km", [("source", 0), ("target", 1)]),
        ("at 18 : 45", "à 18 h 45", []),
        ("44 days", "444 jours", [("source", 0), ("target", 0)]),
        ("from 1990 to 2000", "de 1990 à 20", [("source", 3), ("target", 3)]),
        ("5000 people", "500 personnes", [("source", 0), ("target", 0)]),
        ("20 chairs for 2026", "des chaises pour 2026", [("source", 0)]),
        ("call 06 12 34 56", "appelez le 06123456", []),
        ("06 12 34 56 now", "06 12 34 maintenant", [("source", 3)]),
        ("3000 6000 0112", "3000 600 0112", [("source", 1), ("target", 1)]),
        ("1 250 000 votes", "1,250,000 voix", []),
        ("855 of them", "850 d'entre eux", [("source", 0), ("target", 0)]),
        ("2 cats", "deux chats", []),
        ("the 1990s", "les années 1990", []),
        ("year ٢٠٢٤", "année 2024", []),
        ("x² m³²", "x² m", []),
    ],
)
def test_numbers_whose_digits_are_not_on_the_other_side(
    source: str, target: str, expected: list[tuple[str, int]]
) -> None:
    found = [one for one in signals(source, target) if one.kind == "changed_number"]
    assert [(one.side, one.first) for one in found] == expected


CODE = "{name} %s https://a.fr/b?c=1 jo@a.org ${x} <b> </b> a_b run() {{0}} %(n)d www.a.fr"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (CODE, f"({CODE}) !", []),
        ("Hello {name}!", "Bonjour <name !", [("source", "{name}")]),
        ("Hello {name}.", "Bonjour {nom}.", [("source", "{name}"), ("target", "{nom}")]),
        ("your %s, 100% sure", "votre % de, sûr à 100 %", [("source", "%s")]),
        ("(see www.a.fr/b).", "(voir www.a.fr)", [("source", "www.a.fr/b")]),
        ("Click <b>Save</b>", "Cliquez <b>Enregistrer", [("source", "</b>")]),
        ("It costs $15 and/or 5 < 6 {", "Cela coûte 15 $", []),
        ("see 東 now", "voir \ufffd\ufffd", [("target", "\ufffd\ufffd")]),
        ("call a_b()", "appelez a_c()", [("source", "a_b"), ("target", "a_c")]),
    ],
)
def test_code_that_is_not_on_the_other_side(source: str, target: str, expected: list[tuple[str, str]]) -> None:
    texts = {"source": source, "target": target}
    found = [one for one in signals(source, target, cut=real_words) if one.kind == "changed_code"]
    assert [(one.side, texts[one.side][slice(*one.span)]) for one in found] == expected


def test_code_is_found_whatever_spans_count() -> None:
    def in_bytes(text: str) -> list[SignalWord]:
        def place(position: int) -> int:
            return len(text[:position].encode())

        return [replace(word, span=(place(word.span[0]), place(word.span[1]))) for word in real_words(text)]

    found = [one for one in signals("été été={nom}.", "l'été", cut=in_bytes) if one.kind == "changed_code"]
    assert [("été été={nom}.".encode()[slice(*one.span)], one.first, one.last) for one in found] == [(b"{nom}", 3, 5)]


def test_words_that_the_model_finds_unlikely() -> None:
    assert kinds(signals("a", "b", log_prob=-3.5)) == [("low_logprob", 0, 0)]
    assert kinds(signals("a", "b", log_prob=-2.5)) == []


def test_signals_are_given_by_the_thresholds_asked_for() -> None:
    soft = [[0.6, 0.05], [0.1, 0.05]]

    def given(thresholds: Thresholds) -> list[tuple[str, float]]:
        return [(one.kind, one.threshold) for one in signals("the cat", "le chat", soft, -2.0, thresholds)]

    assert given(Thresholds(ignored_source=0.1, unsourced_target=0.1)) == []
    assert given(Thresholds(ignored_source=0.11, unsourced_target=0.05)) == [("ignored_source", 0.11)]
    assert given(Thresholds(0.0, 0.2, -1.9)) == [
        ("unsourced_target", 0.2),
        ("low_logprob", -1.9),
        ("low_logprob", -1.9),
    ]

import random
import re

from app.text.normalise import normalise
from model.corpus import bare_form, drop_reason
from model.short_texts import ShortTexts, date, price, read_phrases, time
from model.verbatim import Verbatim


def test_the_phrasebook_is_fit_for_training() -> None:
    phrases = read_phrases()
    assert len(phrases) > 300
    assert len(set(phrases)) == len(phrases)
    for first, second in phrases:
        assert drop_reason(first, second) is None
        assert (normalise(first), normalise(second)) == (first, second)
        assert first.endswith("?") == second.endswith("?")
        assert bare_form(first)


def test_prices_times_and_dates_say_the_same_in_both_languages() -> None:
    for seed in range(200):
        english, french = price(random.Random(seed))
        (sign,) = set("$€£") & set(english)
        assert sign in french
        assert re.sub(r"\D", "", english) == re.sub(r"\D", "", french)
        assert ("." in english.rstrip(".")) == bool(re.search(r"\d,\d\d ", french))
        english, french = time(random.Random(seed))
        assert [int(part) for part in re.findall(r"\d+", english)] == [int(part) for part in re.findall(r"\d+", french)]
        english, french = date(random.Random(seed))
        assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", french))


def test_the_first_of_a_month_is_an_ordinal_in_french() -> None:
    firsts = [french for english, french in (date(random.Random(seed)) for seed in range(500)) if "1er" in french]
    assert firsts
    assert not any(re.search(r"\b1 [a-zé]", french) for _, french in (date(random.Random(seed)) for seed in range(500)))


def test_halves_of_the_day_have_their_french_names() -> None:
    drawn = [time(random.Random(seed)) for seed in range(600)]
    halves = {"m": "du matin", "a": "de l'après-midi", "e": "du soir"}
    for english, french in drawn:
        found = re.search(r"(\d+):\d\d ([ap])\.?m", english, re.IGNORECASE)
        half = found and ("m" if found[2].lower() == "a" else "a" if int(found[1]) < 6 else "e")
        assert [name for name in halves if halves[name] in french] == ([half] if half else [])
    assert not any(".." in text for pair in drawn for text in pair)
    assert any("p.m." in english for english, _ in drawn)


def test_every_kind_is_drawn() -> None:
    short = ShortTexts([("Thank you!", "Merci !")], [("cat", "chat")], Verbatim([]))
    source = random.Random(3)
    drawn = {short(source) for _ in range(900)}
    assert {("Thank you!", "Merci !"), ("cat", "chat"), ("Cat", "Chat")} <= drawn
    assert any("€" in french for _, french in drawn)
    assert any(re.search(r"\d h \d\d", french) for _, french in drawn)
    assert any(re.search(r"\d\d \d\d \d\d", french) for _, french in drawn)
    assert any(re.search(r"[A-Z]-?\d{3}", french) for _, french in drawn)
    assert any(re.search(r"[a-z][./@_`-][a-z]", french) for _, french in drawn)
    assert any(re.search(r" (janvier|mai|août) \d{4}", french) for _, french in drawn)

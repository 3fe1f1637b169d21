"""Answers that come late, or in another order than they were asked for."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.web.test_page import SENTENCE, translate, until

TWO = "She reads a book. He forgot his keys."


def hold(page: Any, path: str, which: Callable[[dict[str, Any]], bool]) -> list[Any]:
    """Requests to ``path`` whose body ``which`` accepts wait in the list; the others go on."""
    held: list[Any] = []

    def meet(route: Any) -> None:
        if which(route.request.post_data_json):
            held.append(route)
        else:
            route.continue_()

    page.route(f"**{path}", meet)
    return held


def wait_for(page: Any, held: list[Any]) -> None:
    for _ in range(1000):
        if held:
            return
        page.wait_for_timeout(20)
    raise AssertionError("nothing was asked for")


def let_go(page: Any, held: list[Any]) -> None:
    """What the page has given up meanwhile goes nowhere; what it still wants has time to come."""
    for route in held:
        with suppress(Exception):
            route.continue_()
    page.wait_for_timeout(1000)


def given_up(page: Any) -> list[str]:
    """Texts of the requests that the page ended before they were answered."""
    texts: list[str] = []
    page.on("requestfailed", lambda sent: texts.append(sent.post_data_json["text"]))
    return texts


def test_a_text_sent_while_another_is_translated_takes_its_place(page: Any) -> None:
    gone = given_up(page)
    held = hold(page, "/translate", lambda body: body["text"] == SENTENCE)
    page.goto("/")
    page.fill("#text", SENTENCE)
    page.click("#translate")
    wait_for(page, held)
    assert page.get_attribute("#translation", "aria-busy") == "true"
    page.fill("#text", "She reads a book.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#view[aria-busy=false] .words")
    assert gone == [SENTENCE]
    let_go(page, held)
    assert "livre" in page.inner_text("#translation")
    assert page.locator(".words").first.inner_text().startswith("She")
    assert page.get_attribute("#translation", "aria-busy") == "false"
    assert "ms" in page.inner_text("#status")


def test_another_address_takes_the_place_of_what_is_translated(page: Any) -> None:
    held = hold(page, "/translate", lambda body: body["text"] == SENTENCE)
    page.goto(f"/#text={SENTENCE}&source=en&target=fr")
    wait_for(page, held)
    page.evaluate("location.hash = 'text=Le+chat+dort.&source=fr&target=en'")
    page.wait_for_selector("#view[aria-busy=false] .words")
    let_go(page, held)
    assert "cat" in page.inner_text("#translation")


def test_the_button_waits_for_the_newest_answer(page: Any) -> None:
    held = hold(page, "/translate", lambda body: True)
    page.goto("/")
    for text in (SENTENCE, "She reads a book."):
        page.fill("#text", text)
        page.click("#translate")
    until(page, "document.querySelector('#status').textContent === 'Translating…'")
    page.wait_for_timeout(200)
    assert page.get_attribute("#translation", "aria-busy") == "true"
    assert page.locator("#status.fault").count() == 0
    let_go(page, held)
    until(page, "document.querySelector('#translation').getAttribute('aria-busy') === 'false'")
    assert "livre" in page.inner_text("#translation")


def test_an_explanation_that_comes_after_the_next_text_is_not_shown(page: Any) -> None:
    explained = hold(page, "/attention", lambda body: body["text"] == SENTENCE)
    translated = hold(page, "/translate", lambda body: body["text"] != SENTENCE)
    page.goto(f"/#view=compare&text={SENTENCE}&source=en&target=fr")
    wait_for(page, explained)
    page.fill("#text", "She reads a book.")
    page.click("#translate")
    let_go(page, explained)
    assert page.locator("#status.fault").count() == 0
    let_go(page, translated)
    page.wait_for_selector("#view[aria-busy=false] .words >> text=reads")


def test_a_translation_that_fails_leaves_none_of_an_older_text(browser: Any, address: str) -> None:
    page = browser.new_page(base_url=address)
    translate(page)
    refusal = {"error": {"code": "busy", "message": "the queue is full"}}
    page.route("**/translate", lambda route: route.fulfill(status=429, json=refusal))
    page.fill("#text", "She reads a book.")
    page.click("#translate")
    page.wait_for_selector("#status.fault >> text=the queue is full")
    assert page.inner_text("#translation") == ""
    assert page.locator("#look").is_hidden()
    page.close()


def test_the_comparison_asked_for_last_is_shown(page: Any) -> None:
    page.goto(f"/#view=compare&beam=4&text={SENTENCE}&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .compare")
    choices = page.locator(".compare select option").all_inner_texts()
    second, third = (text.partition(": ")[2] for text in choices[1:3])
    held = hold(page, "/attention", lambda body: body["target_text"].startswith(second))
    page.select_option(".compare select", "beam2")
    wait_for(page, held)
    page.select_option(".compare select", "beam3")
    page.wait_for_selector(".compare-pane >> text=choice no. 3")
    let_go(page, held)
    shown = page.locator(".compare-pane").nth(1).locator(".words").nth(1)
    assert "".join(shown.inner_text().split()).startswith("".join(third.split()))


def test_muted_heads_of_the_sentence_before_do_not_erase_those_of_this_one(page: Any) -> None:
    held = hold(page, "/attention", lambda body: "head_mask" in body and body["text"].startswith("She"))
    page.goto(f"/#text={TWO}&source=en&target=fr&muted=cross.1.1 cross.1.2")
    wait_for(page, held)
    page.select_option("#sentence", "1")
    until(page, "document.querySelectorAll('.before-after dd')[0]?.innerText.startsWith('Il ')")
    until(page, "!['', 'Translating…'].includes(document.querySelectorAll('.before-after dd')[1]?.innerText ?? '')")
    before = page.inner_text(".before-after")
    let_go(page, held)
    assert page.inner_text(".before-after") == before
    page.check("input[name=inside][value=muted]")
    page.click("#tab-compare")
    assert page.locator(".compare option[value=muted]").count() == 1

"""A sentence in capitals: the page says that the model read it in small letters."""

from typing import Any

from tests.web.test_page import until

TEXT = "PLEASE CLOSE THE DOOR.%0AThe cat sleeps."


def test_the_note_is_of_the_chosen_sentence(page: Any) -> None:
    page.goto(f"/#text={TEXT}&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .view")
    note = page.locator("#recased")
    assert "read it in small letters" in note.inner_text()
    until(page, "document.querySelector('#spoken').textContent === document.querySelector('#recased').textContent")
    words = page.locator(".words .word")
    assert words.first.inner_text() == "PLEASE"
    assert all(text == text.upper() for text in words.all_inner_texts())
    page.click("#tab-steps")
    until(page, "document.querySelector('.steps')?.innerText.includes('·close')")
    page.select_option("#sentence", "1")
    until(page, "document.querySelector('#recased').hidden")


def test_nothing_is_noted_about_a_text_in_small_letters(page: Any) -> None:
    page.goto("/#text=The cat sleeps.&source=en&target=fr")
    page.wait_for_selector("#view[aria-busy=false] .view")
    assert page.locator("#recased").is_hidden()

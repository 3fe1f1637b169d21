"""Notes in the Read view say how often they were right when they were tested."""

import json
import math
import urllib.request
from typing import Any

from tests.web.test_page import until

SOURCE = "The meeting of the committee begins at nine in the large hall."
SHORTENED = "La réunion commence à neuf heures."


def test_a_note_says_how_often_it_was_right(page: Any, address: str) -> None:
    page.goto(f"/#view=compare&text={SOURCE}&edit={SHORTENED}&source=en&target=fr")
    page.wait_for_selector(".coverage")
    # Read shows the model's own translation: make the model's answer the shortened one.
    page.route("**/translate", lambda route: route.fulfill(json=shortened(route.fetch().json())))
    page.click("#translate")
    page.click("#tab-read")
    page.wait_for_selector(".notes .trust")
    with urllib.request.urlopen(f"{address}/info") as answer:
        signals = json.load(answer)["model"]["signals"]["en-fr"]
    precision = signals["signals"]["low_logprob"]["faults"]["dropped"]["precision"]
    note = page.locator(".notes li", has_text="unlikely").first
    assert f"right in {math.floor(100 * precision + 0.5)} % of cases in a test" in note.inner_text()
    note.locator("summary").click()
    assert f"Tested on {signals['sentences']} sentences" in note.inner_text()


def shortened(answer: dict[str, Any]) -> dict[str, Any]:
    [translation] = answer["translations"]
    [segment] = translation["segments"]
    segment["target"] = {"text": SHORTENED, "span": [0, len(SHORTENED)]}
    translation["text"] = SHORTENED
    return answer


def test_nothing_is_promised_where_nothing_was_measured(page: Any) -> None:
    page.route("**/info", lambda route: route.fulfill(json=without_report(route.fetch().json())))
    page.route("**/translate", lambda route: route.fulfill(json=shortened(route.fetch().json())))
    page.goto(f"/#text={SOURCE}&source=en&target=fr")
    until(page, "document.querySelectorAll('.notes li').length > 0")
    assert page.locator(".trust").count() == 0
    page.click("#about-open")
    until(page, "document.querySelector('#about-body').innerText.includes('Nothing was measured')")


def without_report(info: dict[str, Any]) -> dict[str, Any]:
    info["model"].update(signals=None, analysis=None)
    return info

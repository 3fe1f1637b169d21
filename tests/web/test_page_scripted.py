"""The page with made-up answers: languages that the bundled model does not know, and very long sentences."""

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np

ARABIC = ["القطة", "تنام", "على", "الكرسي"]
CHINESE = ["猫", "在", "椅", "子", "上", "睡", "觉"]
FRAME_MS = 17
"""What a frame of 60 a second has."""


def side(words: list[str], space: str) -> dict[str, Any]:
    tokens, parts, at = [], [], 0
    for index, word in enumerate(words):
        span = [at, at + len(word)]
        tokens.append({"piece": word, "id": index, "span": span, "word": index, "special": None})
        parts.append({"text": word, "span": span, "tokens": [index]})
        at = span[1] + len(space)
    tokens.append({"piece": "</s>", "id": 2, "span": None, "word": None, "special": "eos"})
    return {"text": space.join(words), "span": [0, at], "tokens": tokens, "words": parts}


def weights(queries: int, keys: int, body: dict[str, Any]) -> dict[str, Any]:
    random = np.random.default_rng(3)
    layers, heads = (1 if one(body, name) else count for name, count in (("layers", 2), ("heads", 4)))
    values = random.dirichlet(np.full(keys, 0.1), size=(layers, heads, queries)).astype("<f2")
    data = base64.b64encode(values.tobytes()).decode()
    return {
        "shape": values.shape,
        "layers": [0, 1],
        "heads": [0, 1, 2, 3],
        "encoding": "base64",
        "dtype": "float16",
        "data": data,
    }


def one(body: dict[str, Any], axis: str) -> bool:
    return body["aggregate"][axis] != "none" or body[axis] != "all"


def explained(source: dict[str, Any], target: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    rivals = [{"piece": f"r{index}", "id": index, "logprob": -1.0 - index} for index in range(5)]
    predicted = [{**token, "logprob": -0.2, "entropy": 0.4, "rivals": rivals} for token in target["tokens"]]
    sizes = {"source": len(source["tokens"]), "target": len(predicted)}
    axes = {"cross": ("target", "source"), "encoder": ("source", "source"), "decoder": ("target", "target")}
    count = min(len(source["words"]), len(target["words"]))
    return {
        "id": "s0", "finish_reason": "eos", "source": source,
        "target": {**target, "fed": ["<s>", *[token["piece"] for token in predicted[:-1]]], "predicted": predicted},
        "attention": {"maps": {name: weights(*(sizes[end] for end in axes[name]), body) for name in body["families"]}},
        "alignment": {"links": [{"source": index, "target": index, "score": 0.7} for index in range(count)]},
        "signals": {"source_mass": [1.0] * len(source["words"]), "found": [], "mean_logprob": -0.2, "eos_mass": 0.1},
    }  # fmt: skip


def answering(answer: Callable[[dict[str, Any]], Any]) -> Callable[[Any], None]:
    return lambda route: route.fulfill(json=answer(json.loads(route.request.post_data or "{}")))


def script(page: Any, source: tuple[str, dict[str, Any]], target: tuple[str, dict[str, Any]]) -> None:
    languages = {"source": source[0], "target": target[0]}
    info = {
        "model": {"id": "scripted", "precision": "float32", "provider": "CPUExecutionProvider",
                  "architecture": {"encoder_layers": 2, "decoder_layers": 2, "heads": 4}},
        "limits": {"max_beam_size": 4, "default_beam_size": 1},
    }  # fmt: skip
    sides = {
        name: {"text": one[1]["text"], "span": one[1]["span"]} for name, one in (("source", source), ("target", target))
    }
    segment = {**sides, "finish_reason": "eos", "alternatives": [], "log_prob": -1.0, "score": -0.2}
    translation = {"text": target[1]["text"], **languages, "segments": [segment]}
    answers = {
        "/languages": lambda body: {"directions": [languages]},
        "/info": lambda body: info,
        "/translate": lambda body: {"translations": [translation], "usage": {"source_pieces": 1, "target_pieces": 1}},
        "/attention": lambda body: {"segments": [explained(source[1], target[1], body)]},
    }
    for path, answer in answers.items():
        page.route(f"**{path}", answering(answer))


def show(page: Any, view: str, **state: str) -> None:
    more = "".join(f"&{name}={value}" for name, value in state.items())
    page.goto(f"/#view={view}&text=x{more}")
    page.wait_for_selector("#view[aria-busy=false] .view")


def test_right_to_left_and_chinese_labels(page: Any) -> None:
    script(page, ("ar", side(ARABIC, " ")), ("zh", side(CHINESE, "")))
    show(page, "head")
    assert page.locator(".heat-columns span").last.inner_text() == ARABIC[0]
    assert page.locator(".heat-columns bdi[lang=ar]").count() == len(ARABIC)
    assert page.locator(".heat-rows bdi[lang=zh]").count() == len(CHINESE)
    page.locator(".heat-cell").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".heat-row [role=gridcell]").get_attribute("aria-colindex") == "2"
    page.click("#tab-read")
    words = page.locator(".words")
    assert [words.nth(index).get_attribute("dir") for index in range(2)] == ["rtl", "ltr"]
    assert [words.nth(index).get_attribute("lang") for index in range(2)] == ["ar", "zh"]


def test_row_labels_stand_on_the_right_of_a_right_to_left_translation(page: Any) -> None:
    script(page, ("zh", side(CHINESE, "")), ("ar", side(ARABIC, " ")))
    show(page, "head")
    rows, field = page.locator(".heat-rows").bounding_box(), page.locator(".heat-field").bounding_box()
    assert rows["x"] >= field["x"] + field["width"] - 1


def test_words_cannot_become_markup(page: Any) -> None:
    script(page, ("en", side(["<img/src=x>", "</script>"], " ")), ("fr", side(["<b>x</b>"], " ")))
    for view in ("read", "head", "grid", "steps", "compare"):
        show(page, view)
    assert page.locator("main b, main img").count() == 0


def test_languages_that_the_browser_has_no_name_for_stand_by_their_codes(page: Any) -> None:
    script(page, ("pt_BR", side(["gato"], " ")), ("q_", side(["cat"], " ")))
    show(page, "read")
    assert page.locator("#direction option").all_inner_texts() == ["Brazilian Portuguese → q_"]


FRAMES = """async () => {
  const heat = document.querySelector('.heat'), field = document.querySelector('.heat-field');
  const box = heat.getBoundingClientRect();
  for (let step = 0; step < 60; step++) {
    heat.scrollTo(step * 20, step * 20);
    const place = { clientX: box.x + 200 + (step * 7) % 400, clientY: box.y + 200 + (step * 5) % 300, bubbles: true };
    field.dispatchEvent(new PointerEvent('pointermove', place));
    await new Promise(requestAnimationFrame);
  }
}"""


def busy_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in metrics if each["name"] == "TaskDuration")


def test_two_hundred_words_stay_fluid(page: Any) -> None:
    words = [f"word{index}" for index in range(200)]
    script(page, ("en", side(words, " ")), ("fr", side(words, " ")))
    show(page, "head")
    page.wait_for_timeout(500)
    # Time of the page's thread: what else runs on the machine is not the page's fault.
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = busy_seconds(session)
    page.evaluate(FRAMES)
    frame_ms = (busy_seconds(session) - before) / 60 * 1000
    print(f"200 x 200 cells, scrolling and pointing: {frame_ms:.1f} ms a frame")
    assert 0 < frame_ms < FRAME_MS
    assert page.locator(".heat canvas").evaluate("canvas => canvas.width * canvas.height") < 4_000_000


def test_a_tap_reads_a_cell_and_a_second_tap_keeps_it(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, base_url=address)
    page = context.new_page()
    script(page, ("en", side(["one", "two", "three"], " ")), ("fr", side(["un", "deux", "trois"], " ")))
    show(page, "head")
    field = page.locator(".heat-field")
    field.tap(position={"x": 60, "y": 60})
    assert page.locator(".heat.pointed:not(.locked)").count() == 1
    field.tap(position={"x": 60, "y": 60})
    assert page.locator(".heat.locked").count() == 1
    context.close()

"""``python -m app.draw "Where is the station?" -o attention.svg``: a translation's cross-attention as a picture.

A name that ends in ``.png`` gets PNG, with the extra ``png``.
"""

import os

# Before anything imports onnxruntime, which reports home otherwise.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from app.api.service import TranslationService
from app.attention.drawing import Drawing, document
from app.attention.png import check_png_installed, to_png
from app.attention.selection import AttentionSelection
from app.attention.svg import draw_heat_map, map_title, mean_map
from app.errors import InvalidInput, VitrailError
from app.explanation import ExplainRequest, ExplanationRequest
from app.main import compose
from app.settings import settings_from_environment


def main(arguments: Sequence[str] | None = None) -> int:
    """Draws with the model that the settings name, see ``app.settings``; returns the exit status."""
    asked = _parser().parse_args(arguments)
    selection = AttentionSelection(("cross",), asked.layer, asked.head, "mean", "mean")
    wanted = ExplanationRequest(selection, alignment=False, path="")
    request = ExplainRequest(asked.text, asked.source, asked.target, None, wanted)
    suffix = asked.output.suffix.lower()
    if suffix not in (".svg", ".png"):
        print(f"--output must end in .svg or .png, not {asked.output.name!r}", file=sys.stderr)
        return 2
    as_png = suffix == ".png"
    try:
        if as_png:
            check_png_installed()
        running = compose(settings_from_environment())
        try:
            drawing, translated = asyncio.run(draw(running.service, request))
        finally:
            running.stop()
        picture = to_png([drawing]) if as_png else document([drawing]).encode()
        asked.output.write_bytes(picture)
    except (VitrailError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(translated)
    return 0


async def draw(service: TranslationService, request: ExplainRequest) -> tuple[Drawing, str]:
    """The picture of the one sentence in ``request``, and its translation.

    Raises:
        InvalidInput: the languages, or the text is not one sentence, or what the model refuses.
    """
    if (request.source, request.target) not in service.languages():
        message = f"no translation from {request.source!r} to {request.target!r}"
        raise InvalidInput(message, field="source", value=request.source)
    explained = await service.explain(request)
    maps = [segment.maps["cross"] for segment in explained.segments if segment.maps]
    if len(maps) != 1:
        message = f"a picture shows one sentence, the text has {len(maps)} that are translated"
        raise InvalidInput(message, field="text", limit=1, value=len(maps))
    return draw_heat_map(mean_map(maps[0], map_title(maps[0]))), explained.target_text or ""


def _choice(text: str) -> tuple[int, ...] | None:
    return None if text == "mean" else (int(text),)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app.draw", description="Draw the cross-attention of a sentence.")
    parser.add_argument("text", help="one sentence")
    parser.add_argument("--source", default="en", help="its language")
    parser.add_argument("--target", default="fr", help="language to translate into")
    for name in ("layer", "head"):
        choice = f"which {name}, counted from 0, -1 is the last; or mean, of all (default)"
        parser.add_argument(f"--{name}", type=_choice, default=None, metavar="N|mean", help=choice)
    parser.add_argument("-o", "--output", type=Path, default=Path("attention.svg"), help="SVG or PNG file to write")
    return parser


if __name__ == "__main__":
    sys.exit(main())

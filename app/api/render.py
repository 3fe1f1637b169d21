"""``POST /attention/render``: an explanation as a picture."""

import asyncio
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response

from app.api.attention_schemas import EXAMPLE_RENDER, RenderBody, View
from app.api.disconnect import until_disconnect
from app.api.examples import error_documentation
from app.api.explained import explained_answer
from app.api.json_response import text_response
from app.api.limits import check_explain
from app.api.negotiation import accepted, best_media_type, media_quality
from app.api.service import Limits, Pngs, Service
from app.attention.drawing import Drawing, document
from app.attention.page import to_html
from app.attention.png import PngUnavailable, check_png_installed
from app.attention.png_queue import PngQueue
from app.attention.selection import AttentionSelection, Encoding, MapFormat
from app.attention.svg import draw_heat_map, map_title, mean_map
from app.attention.views import Line, draw_grid, draw_lines, strongest_lines
from app.errors import InvalidInput
from app.explanation import ExplainedSegment, ExplainedText, ExplainRequest
from app.translation import ModelInfo

SVG, HTML, PNG = "image/svg+xml", "text/html", "image/png"
_THUMBNAIL_RESOLUTION = 64
_TEXT = {"schema": {"type": "string"}}
_BINARY = {"schema": {"type": "string", "contentMediaType": PNG}}

router = APIRouter(tags=["attention"])


@router.post(
    "/attention/render",
    response_class=Response,
    summary="Explain a text as a picture",
    responses={
        200: {"description": "The picture.", "content": {SVG: _TEXT, HTML: _TEXT, PNG: _BINARY}},
        **error_documentation(400, 413, 415, 422, 429, 500, 503, 504),
    },
)
async def render(
    body: Annotated[RenderBody, Body(openapi_examples=EXAMPLE_RENDER)],
    request: Request,
    service: Service,
    limits: Limits,
    pngs: Pngs,
) -> Response:
    """Draws what `/attention` tells, one picture a sentence, below each other.

    `Accept: image/svg+xml`, the default, gets SVG; `text/html` one file with the picture and its data that opens
    without a network: their fonts are the viewer's, so that every script is shaped by software that knows it.
    `image/png`, where the server has the extra `png`, gets PNG with the fonts of the server, of at most 16,000,000
    pixels; two are drawn at once, and above sixteen that wait more are refused with 429.
    """
    media_type = _media_type(accepted(request, "accept"))
    wanted = _for_view(body, "json" if media_type == HTML else "picture")
    check_explain(wanted, limits, service.languages())
    if media_type == PNG:
        pngs.check_room()  # again when it is drawn; here nothing was done in vain
    text = await until_disconnect(request, service.explain(wanted))

    if media_type == PNG:
        picture = await until_disconnect(request, _png(text, body.view, pngs))
        return Response(picture, media_type=PNG, headers={"Vary": "Accept"})

    def rendered() -> Response:
        svg = document(_drawings(text, body.view))
        shown = svg if media_type == SVG else _page(text, svg, body, service.info())
        return text_response(shown, media_type, request, vary="Accept, Accept-Encoding")

    return await asyncio.to_thread(rendered)


async def _png(text: ExplainedText, view: View, pngs: PngQueue) -> bytes:
    """The pictures as PNG, drawn when it is their turn.

    Raises:
        InvalidInput: fonts are missing.
        QueueFull, TooLarge, DeadlineExceeded, PngFailed: as ``PngQueue.draw``.
    """
    try:
        return await pngs.draw(lambda: _drawings(text, view))
    except PngUnavailable as error:
        raise _no_png(error) from None


def _no_png(error: PngUnavailable) -> InvalidInput:
    return InvalidInput(f"Accept: {error}; ask for {SVG}", field="Accept", limit=[SVG, HTML], value=PNG)


def _media_type(named: dict[str, float]) -> str:
    """The most wanted kind of picture that can be made here.

    Raises:
        InvalidInput: there is none.
    """
    offers = [SVG, HTML, PNG]
    if media_quality(named, PNG) > 0:
        try:
            check_png_installed()
        except PngUnavailable as error:
            offers.remove(PNG)
            if best_media_type(named, offers) is None:
                raise _no_png(error) from None
    best = best_media_type(named, offers)
    if best is None:
        message = f"Accept: pictures are {SVG}, {HTML} or {PNG}"
        raise InvalidInput(message, field="Accept", limit=offers, value=", ".join(named))
    return best


def _for_view(body: RenderBody, encoding: Encoding) -> ExplainRequest:
    """The request with its selection as the view needs it: reduced, or in thumbnails; a page holds it as JSON too."""
    request = body.to_domain()
    selection = request.wanted.attention
    assert selection is not None
    selection = replace(selection, format=MapFormat(encoding))
    if body.view == "alignment":
        return replace(request, wanted=replace(request.wanted, attention=None, alignment=True))
    selection = _thumbnails(selection) if body.view == "grid" else _reduced(selection)
    return replace(request, wanted=replace(request.wanted, attention=selection))


def _thumbnails(selection: AttentionSelection) -> AttentionSelection:
    resolution = min(selection.resolution or _THUMBNAIL_RESOLUTION // 2, _THUMBNAIL_RESOLUTION)
    return replace(selection, resolution=resolution)


def _reduced(selection: AttentionSelection) -> AttentionSelection:
    heads = "mean" if selection.reduce_heads == "none" else selection.reduce_heads
    layers = "mean" if selection.reduce_layers == "none" else selection.reduce_layers
    return replace(selection, reduce_heads=heads, reduce_layers=layers, resolution=None)


def _drawings(text: ExplainedText, view: View) -> list[Drawing]:
    return [one for segment in text.segments for one in _draw(segment, view)]


def _draw(segment: ExplainedSegment, view: View) -> list[Drawing]:
    """One drawing for each family asked for, or for the alignment; none where the sentence was copied."""
    if view == "alignment":
        return [] if segment.alignment is None or segment.target is None else [_alignment(segment)]
    drawings = []
    for one in (segment.maps or {}).values():
        if view == "grid":
            drawings.append(draw_grid(map_title(one), one))
            continue
        heat_map = mean_map(one, map_title(one))
        if view == "head":
            drawings.append(draw_heat_map(heat_map))
        else:
            drawings.append(draw_lines(heat_map.title, heat_map.key, heat_map.query, strongest_lines(heat_map)))
    return drawings


def _alignment(segment: ExplainedSegment) -> Drawing:
    assert segment.alignment is not None
    assert segment.target is not None
    words = [[word.text for word in side.tokenised.words] for side in (segment.source, segment.target.side)]
    lines = [Line(link.source, link.target, link.score) for link in segment.alignment.links]
    return draw_lines("Word alignment", words[0], words[1], lines)


def _page(text: ExplainedText, svg: str, body: RenderBody, info: ModelInfo) -> str:
    answer = explained_answer(text, body.alignment, info).answer
    return to_html(body.text[:80], svg, answer.model_dump_json(), (body.source, body.target))

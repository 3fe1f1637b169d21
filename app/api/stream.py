"""``POST /translate/stream``: the same as ``/translate``, told while it is made."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.api.answers import translate_answer
from app.api.disconnect import until_disconnect
from app.api.errors import logged_response
from app.api.examples import error_documentation
from app.api.limits import check_request
from app.api.schemas import EXAMPLE_REQUESTS, TranslateBody
from app.api.service import Limits, Service
from app.streaming import Progress
from app.translation import TranslateResult

EVENTS = "text/event-stream"
_EXAMPLE = 'event: piece\ndata: {"text": 0, "segment": 0, "recased": false, "piece": "▁Le"}\n\n'

router = APIRouter(tags=["translation"])


# A proxy that gathers an answer before it hands it on would take the point out of it; nginx asks this header.
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class _Stream(StreamingResponse):
    """Events; the work that they tell of ends with the answer, also where not even the first of them was sent."""

    def __init__(self, events: AsyncIterator[str], working: asyncio.Future[TranslateResult]) -> None:
        super().__init__(events, media_type=EVENTS, headers=_HEADERS)
        self._working = working

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the answer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._working.cancel()


@router.post(
    "/translate/stream",
    response_class=StreamingResponse,
    summary="Translate texts and watch",
    responses={
        200: {"description": "Server-sent events.", "content": {EVENTS: {"example": _EXAMPLE}}},
        **error_documentation(400, 413, 415, 422, 429, 500, 503, 504),
    },
)
async def stream(
    body: Annotated[TranslateBody, Body(openapi_examples=EXAMPLE_REQUESTS)],
    request: Request,
    service: Service,
    limits: Limits,
) -> StreamingResponse:
    """Takes what `/translate` takes and answers with server-sent events.

    `piece`: greedy search (`beam_size` 1) has decided one more piece of a sentence. `segment`: a sentence is
    finished; sentences finish in any order, those that are copied with the one before them. Both say with `recased`
    whether the sentence stands in capitals: `piece` is in small letters then, as the model writes it, `target` is
    raised. With `head_mask` there are neither. `result`: everything, as `/translate` answers it; the last event.
    `error`: what went wrong, as all errors are told, instead of `result`. A client that closes the connection frees its
    place in the batch at the next step.
    """
    wanted = body.to_domain()
    check_request(wanted, limits, service.languages())
    news: asyncio.Queue[Progress | None] = asyncio.Queue()
    working = asyncio.ensure_future(service.translate(wanted, news.put_nowait))
    working.add_done_callback(partial(_end, news))
    first = await _first_news(request, news, working)

    def rendered(result: TranslateResult) -> str:
        return translate_answer(wanted, result, service.info(), body.alignment).model_dump_json()

    async def events() -> AsyncIterator[str]:
        try:
            progress = first
            while progress is not None:
                yield _progress_event(progress)
                progress = await news.get()
            result = await working
            yield _event("result", await asyncio.to_thread(rendered, result))
        except Exception as error:
            yield error_event(logged_response(request, error))

    return _Stream(events(), working)


def _end(news: asyncio.Queue[Progress | None], done: asyncio.Future[TranslateResult]) -> None:
    """There is no more news."""
    news.put_nowait(None)
    if not done.cancelled():
        done.exception()  # looked at, so that a fault that nobody waits for is not one of the event loop's


async def _first_news(
    request: Request, news: asyncio.Queue[Progress | None], working: asyncio.Future[TranslateResult]
) -> Progress | None:
    """None where there is only the result; what fails before there is any news has a status code of its own."""
    try:
        first = await until_disconnect(request, news.get())
        if first is None:
            working.result()
    except BaseException:
        working.cancel()
        raise
    return first


def _progress_event(progress: Progress) -> str:
    place = {"text": progress.text, "segment": progress.segment, "recased": progress.recased}
    if progress.piece is not None:
        return _event("piece", _json({**place, "piece": progress.piece}))
    return _event("segment", _json({**place, "target": progress.target}))


def error_event(answer: Response) -> str:
    """The last event where something went wrong: what would have been the answer."""
    return _event("error", bytes(answer.body).decode())


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _event(name: str, data: str) -> str:
    """One server-sent event; JSON holds no line break."""
    return f"event: {name}\ndata: {data}\n\n"

"""``POST /translate``."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response

from app.api.answers import TranslateAnswer, translate_answer
from app.api.disconnect import until_disconnect
from app.api.examples import TRANSLATE_ANSWER, error_documentation, example_of
from app.api.json_response import json_response
from app.api.limits import check_request
from app.api.schemas import EXAMPLE_REQUESTS, TranslateBody
from app.api.service import Limits, Service

router = APIRouter(tags=["translation"])


@router.post(
    "/translate",
    response_model=TranslateAnswer,
    summary="Translate texts and look at the attention",
    responses={
        **example_of("The translations.", TRANSLATE_ANSWER),
        **error_documentation(400, 413, 415, 422, 429, 500, 503, 504),
    },
)
async def translate(
    body: Annotated[TranslateBody, Body(openapi_examples=EXAMPLE_REQUESTS)],
    request: Request,
    service: Service,
    limits: Limits,
) -> Response:
    """Translates one text or several.

    Paragraphs, line breaks, columns and the white space between sentences survive; all text is translated or
    copied, and `finish_reason` says where the model did not come to an end. Every sentence comes with its
    pieces, its log-probability and, if asked for, the attention of every layer and head that led to it.
    """
    wanted = body.to_domain()
    check_request(wanted, limits, service.languages())
    result = await until_disconnect(request, service.translate(wanted))

    def rendered() -> Response:
        answer = translate_answer(wanted, result, service.info(), body.alignment)
        return json_response(answer.model_dump_json(), request)

    # Attention can be megabytes of text; meanwhile others are served.
    return await asyncio.to_thread(rendered)

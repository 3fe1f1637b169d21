"""``POST /attention``: look inside, without translating for anybody else."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response

from app.api.attention_answers import AttentionAnswer
from app.api.attention_examples import ATTENTION_ANSWER
from app.api.attention_schemas import EXAMPLE_EXPLAIN, AttentionBody
from app.api.disconnect import until_disconnect
from app.api.examples import error_documentation, example_of
from app.api.explained import explained_answer
from app.api.json_response import text_response
from app.api.limits import check_explain
from app.api.negotiation import accepted, media_quality
from app.api.service import Limits, Service
from app.attention.encodings import npz

NPZ = "application/x-npz"

router = APIRouter(tags=["attention"])


@router.post(
    "/attention",
    response_model=AttentionAnswer,
    summary="Explain a text, with the model's translation or any other",
    responses={
        **example_of("The explanation.", ATTENTION_ANSWER, [NPZ]),
        **error_documentation(400, 413, 415, 422, 429, 500, 503, 504),
    },
)
async def explain(
    body: Annotated[AttentionBody, Body(openapi_examples=EXAMPLE_EXPLAIN)],
    request: Request,
    service: Service,
    limits: Limits,
) -> Response:
    """Runs source and translation through the model once more and tells everything about it.

    Sentence by sentence: pieces and words with their places, the log-probability of each piece with its five
    likeliest rivals and the entropy, all attention maps asked for, the word alignment, and hints. Nothing is kept
    between requests. With `Accept: application/x-npz` the maps come as an archive for
    `numpy.load(..., allow_pickle=False)`: `s0/cross` and so on, and `meta.json`, the JSON answer around them.
    """
    named = accepted(request, "accept")
    as_npz = named.get(NPZ, 0.0) > 0 and named[NPZ] >= media_quality(named, "application/json")
    wanted = body.to_domain(npz=as_npz)
    check_explain(wanted, limits, service.languages())
    text = await until_disconnect(request, service.explain(wanted))

    def rendered() -> Response:
        explained = explained_answer(text, body.alignment, service.info())
        if as_npz:
            archive = npz(explained.arrays, body.dtype, explained.answer.model_dump(mode="json"))
            return Response(archive, media_type=NPZ, headers={"Vary": "Accept"})
        return text_response(
            explained.answer.model_dump_json(), "application/json", request, vary="Accept, Accept-Encoding"
        )

    # Attention can be megabytes of text; meanwhile others are served.
    return await asyncio.to_thread(rendered)

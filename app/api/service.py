"""What the HTTP layer needs of the rest."""

from typing import Annotated, Protocol

from fastapi import Depends, Request

from app.api.limits import RequestLimits
from app.attention.png_queue import PngQueue
from app.explanation import ExplainedText, ExplainRequest
from app.streaming import Tell
from app.translation import ModelInfo, TranslateRequest, TranslateResult


class TranslationService(Protocol):
    """Translates; cancelling a call gives its place in the batch back."""

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        """Translates all texts of a request; ``tell`` hears of what is decided on the way.

        Raises:
            VitrailError: see ``app.errors``.
        """

    async def explain(self, request: ExplainRequest) -> ExplainedText:
        """Explains a text, with or without a given translation.

        Raises:
            VitrailError: see ``app.errors``.
        """

    def languages(self) -> tuple[tuple[str, str], ...]:
        """Directions as (source, target)."""

    def info(self) -> ModelInfo:
        """What is being served and how."""

    def ready(self) -> bool:
        """Whether a request would be taken now."""


def service_of(request: Request) -> TranslationService:
    """The service that the running application was composed with."""
    service: TranslationService = request.app.state.service
    return service


Service = Annotated[TranslationService, Depends(service_of)]


def limits_of(request: Request) -> RequestLimits:
    """The limits that the running application was composed with."""
    limits: RequestLimits = request.app.state.limits
    return limits


Limits = Annotated[RequestLimits, Depends(limits_of)]


def pngs_of(request: Request) -> PngQueue:
    """The running application's queue of pictures to be drawn as PNG."""
    pngs: PngQueue = request.app.state.pngs
    return pngs


Pngs = Annotated[PngQueue, Depends(pngs_of)]

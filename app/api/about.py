"""What is being served, and whether it is."""

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app import __version__
from app.api.examples import error_documentation, example_of
from app.api.service import Limits, Service
from app.attention.alignment import RuleName
from app.errors import EngineFailed, NotReady

router = APIRouter()


class Direction(BaseModel):
    """A pair of languages."""

    source: str = Field(description="Language to translate from.")
    target: str = Field(description="Language to translate into.")


class LanguagesAnswer(BaseModel):
    """What can be translated into what."""

    directions: list[Direction] = Field(description="Every direction.")


class ModelDetails(BaseModel):
    """A model and how it runs."""

    id: str = Field(description="Name of the model.")
    revision: str = Field(description="Changes whenever the model's files do.")
    precision: str = Field(description="Number format of the weights in use.")
    provider: str = Field(description="ONNX Runtime execution provider in use.")
    threads: int = Field(description="Threads that compute one step on a CPU.")
    architecture: dict[str, bool | int | str] = Field(description="Sizes and kinds of the network's parts.")
    limits: dict[str, int] = Field(
        description="Sizes that the model sets, in pieces: the longest sentences that it "
        "reads and writes, and `whole_len`, beyond which a sentence is translated in parts."
    )
    alignment_layer: int = Field(description="Decoder layer that alignments read, counted from 0.")
    alignment_rule: RuleName = Field(
        description="`predicted`: by the row that writes a piece; `shifted`: by the next one, which is fed it."
    )
    alignment_measured: bool = Field(
        description="Whether that layer was chosen, with the rule, by measuring; else it is the last one."
    )
    signals: dict[str, Any] | None = Field(
        description="By direction, the threshold of each hint (null where it is counted), and how often the hint is "
        "given and right there (`model.calibrate`); null if not measured: then the server's own thresholds hold."
    )
    analysis: dict[str, Any] | None = Field(description="What the heads do (`model.analyse`); null if not measured.")
    certificate: dict[str, Any] = Field(description="What was compared when the model was exported, with the results.")


class RequestLimitsAnswer(BaseModel):
    """What one request may ask for."""

    max_texts: int = Field(description="Most texts.")
    max_characters: int = Field(description="Most characters (code points) in all texts together.")
    max_sentences: int = Field(description="Most sentences in all texts together; more are answered with 413.")
    max_beam_size: int = Field(description="Most hypotheses per sentence.")
    default_beam_size: int = Field(description="Hypotheses per sentence where the request does not say.")
    default_length_penalty: float = Field(description="`length_penalty` where the request does not say.")
    max_attention_values: int = Field(
        description="Most attention weights in one JSON answer; base64 and npz may hold 50 times as many."
    )


class InfoAnswer(BaseModel):
    """The server."""

    version: str = Field(description="Version of Vitrail.")
    model: ModelDetails = Field(description="The model being served.")
    limits: RequestLimitsAnswer = Field(description="What one request may ask for.")


class HealthAnswer(BaseModel):
    """A sign of life."""

    status: Literal["alive", "ready"] = Field(description="`alive`: the process runs; `ready`: it takes requests.")


_EXAMPLE_INFO = {
    "version": __version__,
    "model": {
        "id": "vitrail-en-fr-small",
        "revision": "c0f5d0bae079",
        "precision": "int8",
        "provider": "CPUExecutionProvider",
        "threads": 2,
        "architecture": {"encoder_layers": 6, "decoder_layers": 2, "d_model": 256, "heads": 8},
        "limits": {"source_len": 102, "target_len": 256, "whole_len": 62},
        "alignment_layer": 1,
        "alignment_rule": "predicted",
        "alignment_measured": True,
        "signals": {
            "en-fr": {
                "sentences": 200,
                "thresholds_from": 200,
                "signals": {
                    "ignored_source": {
                        "threshold": 0.08,
                        "false_alarms": 0.05,
                        "faults": {"dropped": {"given": 0.53, "precision": 0.914}},
                    }
                },
            }
        },
        "analysis": {"sentences": 400},
        "certificate": {"bleu": {"int8": 37.1}},
    },
    "limits": {
        "max_texts": 128,
        "max_characters": 50_000,
        "max_sentences": 4_096,
        "max_beam_size": 16,
        "default_beam_size": 4,
        "default_length_penalty": 1.0,
        "max_attention_values": 200_000,
    },
}
_EXAMPLE_LANGUAGES = {"directions": [{"source": "en", "target": "fr"}, {"source": "fr", "target": "en"}]}


@router.get(
    "/languages",
    tags=["about"],
    summary="What can be translated into what",
    responses=example_of("Every direction.", _EXAMPLE_LANGUAGES) | error_documentation(500),
)
async def languages(service: Service) -> LanguagesAnswer:
    """The directions of the model being served."""
    return LanguagesAnswer(
        directions=[Direction(source=source, target=target) for source, target in service.languages()]
    )


@router.get(
    "/info",
    tags=["about"],
    summary="The model, how it runs, and the limits of a request",
    responses=example_of("The server.", _EXAMPLE_INFO) | error_documentation(500),
)
async def info(service: Service, limits: Limits) -> InfoAnswer:
    """Model, precision, execution provider, sizes, export certificate and limits."""
    return InfoAnswer(
        version=__version__,
        model=ModelDetails.model_validate(service.info(), from_attributes=True),
        limits=RequestLimitsAnswer.model_validate(limits, from_attributes=True),
    )


@router.get(
    "/health/live",
    tags=["health"],
    summary="Whether the process runs and its model has not failed",
    responses=example_of("It does.", {"status": "alive"}) | error_documentation(500),
)
async def live(request: Request) -> HealthAnswer:
    """For a supervisor that restarts what does not answer 200: 500 once the model has failed for good."""
    failed: Callable[[], bool] = request.app.state.failed
    if failed():
        raise EngineFailed("the model fails a trivial sentence")
    return HealthAnswer(status="alive")


@router.get(
    "/health/ready",
    tags=["health"],
    summary="Whether requests are taken",
    responses=example_of("They are.", {"status": "ready"}) | error_documentation(500, 503),
)
async def ready(request: Request, service: Service) -> HealthAnswer:
    """For a load balancer: 503 from the moment that the server is told to stop, or after the model has failed.

    Until the model is open there is no connection.
    """
    leaving: Callable[[], bool] = request.app.state.leaving
    if leaving():
        raise NotReady("the server has been told to stop")
    if not service.ready():
        raise NotReady("no requests are taken")
    return HealthAnswer(status="ready")

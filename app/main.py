"""The only composition root: settings to a running application."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from app import __version__
from app.api import about, attention, metrics, render, stream, translate
from app.api.body_limit import BodyLimit, most_body_bytes
from app.api.count_requests import CountRequests
from app.api.cut_off import CutOff
from app.api.errors import add_error_handlers
from app.api.examples import with_nulls
from app.api.head_requests import HeadRequests
from app.api.limits import RequestLimits
from app.api.request_id import RequestIds
from app.api.service import TranslationService
from app.attention.alignment import AlignmentRule
from app.attention.png_queue import PngQueue
from app.attention.selection import AttentionDepths
from app.attention.signals import Thresholds
from app.cores import engine_threads, usable_cores
from app.engine.engine import Engine, EngineSettings, EngineState
from app.memory import collect_seldom, return_freed_memory
from app.metrics import AnsweredRequests, Metric, engine_metrics
from app.runtime.explain_model import OnnxExplainModel
from app.runtime.model_directory import (
    ANALYSIS_FILE,
    SIGNALS_FILE,
    ModelConfig,
    ModelDirectory,
    open_model_directory,
)
from app.runtime.onnx_step_model import OnnxStepModel, model_limits
from app.runtime.providers import RuntimeOptions
from app.runtime.signal_thresholds import read_signal_thresholds
from app.settings import Settings
from app.text.tokenizer import Tokenizer
from app.translation import ModelInfo
from app.translator import Translator, TranslatorSettings
from app.web import pages

_DESCRIPTION = """
A translation server that people can look into: every translation comes with its sentences, pieces and
probabilities and, if asked for, the attention of every layer and head.

All errors have one shape, `{"error": {"code", "message", "field", "limit", "value"}}`. Every answer has the header
`X-Request-Id`: what the request sent (1 to 128 letters, digits, `.`, `_`, `-`), or a new one.
"""
_TAGS = [
    {"name": "translation", "description": "Text in, text and attention out."},
    {"name": "attention", "description": "Look inside: any text, any translation."},
    {"name": "about", "description": "What is being served."},
    {"name": "health", "description": "For supervisors and load balancers."},
]
_ROUTERS = (translate.router, stream.router, attention.router, render.router, about.router, metrics.router)


@dataclass(frozen=True)
class Running:
    """What a composed application holds while it runs.

    Attributes:
        service: answers requests.
        default_beam_size: hypotheses per sentence where a request does not say.
        stop: takes no more requests and returns when the running ones are answered; may be called twice.
        metrics: what ``GET /metrics`` tells of the engine.
        failed: whether the engine has failed for good.
        default_length_penalty: as ``default_beam_size``.
    """

    service: TranslationService
    default_beam_size: int
    stop: Callable[[], None]
    metrics: Callable[[], Sequence[Metric]] = tuple
    failed: Callable[[], bool] = lambda: False
    default_length_penalty: float = 1.0


def compose(settings: Settings) -> Running:
    """Opens the model and starts the engine; blocks until both are ready.

    Raises:
        ModelDirectoryError: the model directory cannot be used.
        EngineFailed: the model cannot decode.
    """
    return_freed_memory()
    directory = open_model_directory(settings.model)
    options = RuntimeOptions(settings.provider, settings.precision, settings.threads)
    batches = settings.engine_threads or _engine_threads(options)
    translator_settings = _translator_settings(settings, directory, explaining_threads=batches)
    if settings.threads == 0:
        options = dataclasses.replace(options, threads=max(1, usable_cores() // batches))
    tokenizer = Tokenizer(directory.tokenizer_path)
    # A model for each thread: what a session frees it gives out again, best to the core whose cache still holds it.
    models = [OnnxStepModel(directory, options) for _ in range(batches)]
    engine = Engine(models, EngineSettings(settings.max_batch_rows, settings.queue_sentences))
    translator = Translator(
        _model_info(directory, options, models[0].precision),
        translator_settings,
        tokenizer,
        engine,
        OnnxExplainModel(directory, options),
    )
    engine.start()
    collect_seldom()
    return Running(
        translator,
        translator_settings.beam_size,
        stop=lambda: engine.stop(settings.drain_seconds),
        metrics=lambda: engine_metrics(engine.counts()),
        failed=lambda: engine.state is EngineState.FAILED,
        default_length_penalty=translator_settings.length_penalty,
    )


def create_app(settings: Settings, service_factory: Callable[[Settings], Running] = compose) -> FastAPI:
    """The application; ``service_factory`` runs when it starts, in a thread of its own."""
    answered = AnsweredRequests()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        running = await asyncio.to_thread(service_factory, settings)
        app.state.service = running.service
        app.state.limits = _request_limits(settings, running)
        app.state.stop = running.stop
        app.state.failed = running.failed
        app.state.metrics = lambda: (*running.metrics(), *answered.metrics())
        app.state.pngs = PngQueue()
        yield
        await asyncio.to_thread(running.stop)

    app = FastAPIOffline(
        title="Vitrail",
        version=__version__,
        summary="A translation server that people can look into",
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        lifespan=lifespan,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.leaving = lambda: False
    app.add_middleware(HeadRequests)
    app.state.reading = set()
    most, seconds = most_body_bytes(settings.max_characters), settings.deadline_seconds
    app.add_middleware(BodyLimit, max_bytes=most, seconds=seconds, reading=app.state.reading)
    add_error_handlers(app)
    for router in _ROUTERS:
        app.include_router(router)
    pages.add_to(app)
    _wrap(app, answered)
    describe = app.openapi
    app.openapi = lambda: with_nulls(describe())  # type: ignore[method-assign]
    return app


def _wrap(app: FastAPI, answered: AnsweredRequests) -> None:
    """Adds what is around everything, also around what answers for bugs: ``add_middleware`` would add it inside."""
    build = app.build_middleware_stack
    routes = [route for router in _ROUTERS for route in router.routes] + app.routes
    templates = [route for route in routes if isinstance(route, Route | Mount)]

    def stack() -> ASGIApp:
        told = CutOff(build(), lambda: app.state.leaving())
        return RequestIds(CountRequests(told, templates, answered))

    app.build_middleware_stack = stack  # type: ignore[method-assign]


def _engine_threads(options: RuntimeOptions) -> int:
    return 1 if options.resolved_provider() == "cuda" else engine_threads(usable_cores())


def _request_limits(settings: Settings, running: Running) -> RequestLimits:
    return RequestLimits(
        max_texts=settings.max_texts,
        max_characters=settings.max_characters,
        max_beam_size=settings.max_beam_size,
        max_sentences=settings.queue_sentences,
        default_beam_size=running.default_beam_size,
        default_length_penalty=running.default_length_penalty,
        max_attention_values=settings.max_attention_values,
    )


def _translator_settings(settings: Settings, directory: ModelDirectory, explaining_threads: int) -> TranslatorSettings:
    config = directory.config
    architecture = config.architecture
    return TranslatorSettings(
        directions=config.directions,
        beam_size=settings.beam_size or min(config.search.beam_size, settings.max_beam_size),
        length_penalty=config.search.length_penalty,
        depths=AttentionDepths(architecture.encoder_layers, architecture.decoder_layers, architecture.heads),
        max_attention_values=settings.max_attention_values,
        deadline_seconds=settings.deadline_seconds,
        alignment=_alignment(config),
        thresholds=_thresholds(directory),
        explaining_threads=explaining_threads,
    )


def _alignment(config: ModelConfig) -> AlignmentRule:
    """What the model's maker measured; without that the rows of the last layer, which is what it predicts from."""
    if config.alignment_layer is None:
        return AlignmentRule(config.architecture.decoder_layers - 1, "predicted")
    return AlignmentRule(config.alignment_layer, config.alignment_rule)


def _thresholds(directory: ModelDirectory) -> dict[tuple[str, str], Thresholds]:
    """What was measured of the model; directions that were not have the defaults of ``Thresholds``."""
    measured = read_signal_thresholds(directory)
    return {
        direction: Thresholds(one.ignored_source, one.unsourced_target, one.low_logprob)
        for direction, one in measured.items()
    }


def _model_info(directory: ModelDirectory, options: RuntimeOptions, precision: str) -> ModelInfo:
    config = directory.config
    return ModelInfo(
        id=config.id,
        revision=config.revision,
        precision=precision,
        provider={"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}[options.resolved_provider()],
        threads=options.threads,
        architecture=dataclasses.asdict(config.architecture),
        limits=dataclasses.asdict(config.limits) | {"whole_len": model_limits(config).longest_whole},
        certificate=directory.certificate(),
        alignment_layer=_alignment(config).layer,
        alignment_rule=_alignment(config).name,
        alignment_measured=config.alignment_layer is not None,
        signals=directory.report(SIGNALS_FILE),
        analysis=directory.report(ANALYSIS_FILE),
    )

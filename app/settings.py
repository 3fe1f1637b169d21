"""Every knob of the server, read from the environment: ``VITRAIL_`` and the field's name in capitals."""

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ENVIRONMENT_PREFIX = "VITRAIL_"
_BUNDLED_MODEL = Path(__file__).resolve().parent.parent / "model" / "pretrained" / "en-fr"

Precision = Literal["auto", "int8", "float16", "float32"]
Provider = Literal["auto", "cpu", "cuda"]
LogLevel = Literal["critical", "error", "warning", "info", "debug"]


class UnknownSetting(ValueError):
    """The environment names a setting that does not exist."""


class Settings(BaseSettings):
    """What can be set. Sizes are bounded so that a slip of the pen cannot take the machine down."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, extra="forbid")

    host: str = Field(
        default="127.0.0.1", min_length=1, description="Address to listen on; 0.0.0.0 is every interface."
    )
    port: int = Field(default=8000, ge=0, le=65_535, description="TCP port to listen on; 0 lets the system choose one.")
    model: Path = Field(default=_BUNDLED_MODEL, description="Path of the model directory to serve.")
    precision: Precision = Field(
        default="auto", description="Number format of the weights; auto is float16 on a GPU and int8 on a CPU."
    )
    provider: Provider = Field(
        default="auto", description="Where the model runs; auto is CUDA where there is a GPU, else CPU."
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=1_024,
        description="Threads that compute one step on a CPU; 0 shares the cores out among the engine threads.",
    )
    engine_threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Batches that are decoded, each in sessions of its own, and sentences explained at the same time; "
        "0 is one on a GPU, else one per core, at most four.",
    )
    beam_size: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Hypotheses per sentence where a request does not say; 0 is the model's own choice.",
    )
    max_beam_size: int = Field(
        default=16, ge=1, le=64, description="Most hypotheses per sentence that a request may ask for."
    )
    max_texts: int = Field(default=128, ge=1, le=10_000, description="Most texts in one request.")
    max_characters: int = Field(
        default=50_000,
        ge=1,
        le=10_000_000,
        description="Most characters (code points) in all texts of one request together.",
    )
    max_attention_values: int = Field(
        default=200_000,
        ge=0,
        le=100_000_000,
        description="Most attention weights in one JSON answer; as base64 or npz 50 times as many. 0 allows none.",
    )
    max_batch_rows: int = Field(
        default=64, ge=1, le=4_096, description="Most rows (sentences times beam size) of one batch."
    )
    queue_sentences: int = Field(
        default=4_096,
        ge=1,
        le=1_000_000,
        description="Most sentences that wait to be decoded; more are answered with 429, more in one request with 413.",
    )
    deadline_seconds: float = Field(
        default=60, gt=0, le=3_600, description="Seconds until an unfinished request is answered with 504."
    )
    drain_seconds: float = Field(
        default=20,
        ge=0,
        le=3_600,
        description="Seconds that running requests get to finish when the server is told to stop.",
    )
    linger_seconds: float = Field(
        default=0,
        ge=0,
        le=3_600,
        description="Seconds that requests are still taken, readiness being 503, before the server drains: "
        "time for load balancers to look elsewhere.",
    )
    log_level: LogLevel = Field(default="info", description="Least severity that is logged.")

    @model_validator(mode="after")
    def _widest_beam_fits_in_a_batch(self) -> Self:
        for name in ("beam_size", "max_beam_size"):
            if getattr(self, name) > self.max_batch_rows:
                raise ValueError(f"{name} {getattr(self, name)} is above max_batch_rows {self.max_batch_rows}")
        if self.beam_size > self.max_beam_size:
            raise ValueError(f"beam_size {self.beam_size} is above max_beam_size {self.max_beam_size}")
        return self


def settings_from_environment() -> Settings:
    """Reads the settings; a variable with the prefix that is no setting is an error, not a typing mistake unseen.

    Raises:
        UnknownSetting: such a variable exists.
        pydantic.ValidationError: a value is not allowed.
    """
    known = {f"{ENVIRONMENT_PREFIX}{name}".upper() for name in Settings.model_fields}
    unknown = sorted(
        name for name in os.environ if name.upper().startswith(ENVIRONMENT_PREFIX) and name.upper() not in known
    )
    if unknown:
        raise UnknownSetting(f"no such setting: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return Settings()

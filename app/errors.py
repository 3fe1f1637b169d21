"""What can go wrong, without a word of HTTP.

VitrailError
├── InvalidInput          the request breaks a rule; names field, limit and value
│   └── TooLarge          the request is well formed but over a size limit
├── QueueFull             busy: the same request may succeed in a moment
├── NotReady              starting, draining or failed: another replica may serve it
├── DeadlineExceeded      the answer was not there in time
├── EngineFailed          the model raised while decoding
└── ModelDirectoryError   a model directory cannot be used; lists every fault
"""

from collections.abc import Sequence


class VitrailError(Exception):
    """Base of all errors that Vitrail raises on purpose."""


class InvalidInput(VitrailError):
    """A field of a request is outside what is allowed."""

    def __init__(self, message: str, *, field: str, limit: object = None, value: object = None) -> None:
        super().__init__(message)
        self.field = field
        self.limit = limit
        self.value = value


class TooLarge(InvalidInput):
    """A field of a request is larger than its limit."""


class QueueFull(VitrailError):
    """No room for more work, be it sentences or pictures, at the moment."""

    def __init__(self, waiting: int, limit: int, what: str = "sentences") -> None:
        super().__init__(f"{waiting} {what} are waiting, the queue holds {limit}")
        self.waiting = waiting
        self.limit = limit


class NotReady(VitrailError):
    """The engine does not take requests: it is starting, draining or has failed."""


class DeadlineExceeded(VitrailError):
    """A request was not finished within its time."""

    def __init__(self, seconds: float, what: str = "not finished") -> None:
        super().__init__(f"{what} within {seconds:g} seconds")
        self.seconds = seconds


class EngineFailed(VitrailError):
    """The model raised; the cause is chained."""


class ModelDirectoryError(VitrailError):
    """A model directory that cannot be used."""

    def __init__(self, path: object, faults: Sequence[str]) -> None:
        super().__init__(f"{path}: " + "; ".join(faults))
        self.faults = tuple(faults)

"""``GET /metrics``: counters in the text format of Prometheus."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from fastapi import APIRouter, Request, Response

from app.api.examples import error_documentation
from app.metrics import Histogram, Labels, Metric

TEXT = "text/plain; version=0.0.4"
_EXAMPLE = """\
# HELP vitrail_shared_sentences_total Sentences that got what an equal one, in flight at the same time, was decoded to.
# TYPE vitrail_shared_sentences_total counter
vitrail_shared_sentences_total 12
"""

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    summary="Counters for a monitoring system",
    responses={200: {"description": "Counters.", "content": {TEXT: {"example": _EXAMPLE}}}, **error_documentation(500)},
)
async def metrics(request: Request) -> Response:
    """What the server has done since it was started, in the text format of Prometheus.

    Sentences taken, and of those how many shared the decode of an equal one; positions computed by `part` of the
    model, `real` and `padding`: their ratio is what is lost to sentences of different lengths; queue and rows now.
    Requests answered by `route`, `method` and `status`, and how long they took by `route`; `other` is every path that
    does not exist.
    """
    found: Callable[[], Sequence[Metric | Histogram]] = request.app.state.metrics
    return Response(as_text(found()), media_type=f"{TEXT}; charset=utf-8")


def as_text(found: Sequence[Metric | Histogram]) -> str:
    """Every metric with its help and kind; names, helps and labels need no escapes."""
    lines = []
    for metric in found:
        kind = metric.kind if isinstance(metric, Metric) else "histogram"
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {kind}", *_samples(metric)]
    return "".join(f"{line}\n" for line in lines)


def _samples(metric: Metric | Histogram) -> Iterator[str]:
    if isinstance(metric, Metric):
        for labels, value in metric.values.items():
            yield _sample(metric.name, labels, value)
        return
    bounds = [*(f"{bound:g}" for bound in metric.bounds), "+Inf"]
    for labels, spread in metric.values.items():
        for bound, count in zip(bounds, accumulate(spread.buckets), strict=True):
            yield _sample(f"{metric.name}_bucket", (*labels, ("le", bound)), count)
        yield _sample(f"{metric.name}_sum", labels, round(spread.total, 6))
        yield _sample(f"{metric.name}_count", labels, sum(spread.buckets))


def _sample(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{label}="{content}"' for label, content in labels)
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"

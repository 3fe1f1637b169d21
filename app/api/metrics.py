"""``GET /metrics``: counters in the text format of Prometheus."""

from collections.abc import Callable, Sequence

from fastapi import APIRouter, Request, Response

from app.api.examples import error_documentation
from app.metrics import Metric

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
    """What the engine has done since it was started, in the text format of Prometheus.

    Sentences taken, and of those how many shared the decode of an equal one; positions computed by `part` of the
    model, `real` and `padding`: their ratio is what is lost to sentences of different lengths; queue and rows now.
    """
    found: Callable[[], Sequence[Metric]] = request.app.state.metrics
    return Response(as_text(found()), media_type=f"{TEXT}; charset=utf-8")


def as_text(found: Sequence[Metric]) -> str:
    """Every metric with its help and kind; names, helps and labels need no escapes."""
    lines = []
    for metric in found:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        for labels, value in metric.values.items():
            inside = ",".join(f'{name}="{label}"' for name, label in labels)
            lines.append(f"{metric.name}{{{inside}}} {value}" if inside else f"{metric.name} {value}")
    return "".join(f"{line}\n" for line in lines)

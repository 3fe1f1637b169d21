import asyncio

import httpx

from app.engine.counts import EngineCounts, Positions
from app.main import Running, create_app
from app.metrics import engine_metrics
from app.settings import Settings
from tests.api.scripted_service import ScriptedService

EXPECTED = """\
# TYPE vitrail_sentences_total counter
vitrail_sentences_total 7
# TYPE vitrail_shared_sentences_total counter
vitrail_shared_sentences_total 2
# TYPE vitrail_positions_total counter
vitrail_positions_total{part="encoder",kind="real"} 90
vitrail_positions_total{part="encoder",kind="padding"} 10
vitrail_positions_total{part="decoder_cross",kind="real"} 11
vitrail_positions_total{part="decoder_cross",kind="padding"} 3
# TYPE vitrail_waiting_sentences gauge
vitrail_waiting_sentences 4
# TYPE vitrail_rows gauge
vitrail_rows 8
"""


def test_counters_are_told_as_text() -> None:
    positions = {"encoder": Positions(90, 10), "decoder_cross": Positions(11, 3)}
    counts = EngineCounts(7, 2, 4, 8, positions)  # type: ignore[arg-type]
    service = ScriptedService()
    running = Running(service, 4, service.stop, lambda: engine_metrics(counts))

    async def scenario() -> httpx.Response:
        app = create_app(Settings(), lambda _: running)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            return await client.get("/metrics")

    answer = asyncio.run(scenario())
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines(keepends=True)
    helps = [line for line in lines if line.startswith("# HELP ")]
    assert len(helps) == 5
    assert "".join(line for line in lines if line not in helps) == EXPECTED

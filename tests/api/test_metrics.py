import asyncio

import httpx
from starlette.types import Message, Receive, Scope, Send

from app.api.count_requests import CountRequests
from app.api.metrics import as_text
from app.engine.counts import EngineCounts, Positions
from app.main import Running, create_app
from app.metrics import AnsweredRequests, engine_metrics
from app.settings import Settings
from tests.api.scripted_service import ScriptedService, client_of

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
# TYPE vitrail_requests_total counter
# TYPE vitrail_request_duration_seconds histogram
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
    assert len(helps) == 7
    assert "".join(line for line in lines if line not in helps) == EXPECTED


def sample(text: str, name: str) -> float:
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.rpartition(" ")[2])


def test_requests_are_counted_by_route_method_and_status() -> None:
    async def scenario() -> str:
        async with client_of(ScriptedService(failure=RuntimeError())) as client:
            for path in (
                "/info",
                "/info",
                "/web/main.js",
                "/web/nothing.js",
                "/nothing",
                "/nothing-else",
                "/openapi.json",
            ):
                await client.get(path)
            await client.head("/info")
            await client.request("BREW", "/info")
            await client.post("/translate", json={"text": "a", "source": "en", "target": "fr"})
            await client.post("/translate", content="{")
            return (await client.get("/metrics")).text

    text = asyncio.run(scenario())
    counted = [line for line in text.splitlines() if line.startswith("vitrail_requests_total{")]
    assert sorted(counted) == [
        'vitrail_requests_total{route="/info",method="GET",status="200"} 2',
        'vitrail_requests_total{route="/info",method="HEAD",status="200"} 1',
        'vitrail_requests_total{route="/info",method="other",status="405"} 1',
        'vitrail_requests_total{route="/openapi.json",method="GET",status="200"} 1',
        'vitrail_requests_total{route="/translate",method="POST",status="415"} 1',
        'vitrail_requests_total{route="/translate",method="POST",status="500"} 1',
        'vitrail_requests_total{route="/web",method="GET",status="200"} 1',
        'vitrail_requests_total{route="/web",method="GET",status="404"} 1',
        'vitrail_requests_total{route="other",method="GET",status="404"} 2',
    ]
    assert sample(text, 'vitrail_request_duration_seconds_count{route="/info"}') == 4
    assert sample(text, 'vitrail_request_duration_seconds_bucket{route="/info",le="+Inf"}') == 4
    assert sample(text, 'vitrail_request_duration_seconds_sum{route="/info"}') > 0


def test_buckets_hold_all_that_is_at_most_their_bound() -> None:
    answered = AnsweredRequests()
    for seconds in (0.004, 0.01, 0.02, 3.0, 60.0, 61.0):
        answered.count("/translate", "POST", 200, seconds)
    text = as_text(answered.metrics())
    name = 'vitrail_request_duration_seconds_bucket{route="/translate",le='
    expected = {"0.01": 2, "0.025": 3, "2.5": 3, "5": 4, "30": 4, "60": 5, "+Inf": 6}
    assert {bound: sample(text, f'{name}"{bound}"}}') for bound in expected} == expected
    assert sample(text, 'vitrail_request_duration_seconds_sum{route="/translate"}') == 124.034


def test_client_that_left_is_counted_as_such() -> None:
    async def scenario() -> None:
        answered = AnsweredRequests()

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            return

        async def none(*_: object) -> Message:
            raise AssertionError

        scope = {"type": "http", "method": "GET", "path": "/"}
        await CountRequests(app, [], answered)(scope, none, none)
        assert 'route="other",method="GET",status="499"} 1' in as_text(answered.metrics())

    asyncio.run(scenario())

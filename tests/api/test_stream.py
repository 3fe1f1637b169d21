"""When the work behind a stream ends, message by message of ASGI."""

import asyncio
import json
from typing import Any

import pytest

from app.main import Running, create_app
from app.settings import Settings
from app.streaming import Progress, Tell
from app.translation import TranslateRequest, TranslateResult
from tests.api.scripted_service import ScriptedService

BODY = json.dumps({"text": "The cat.", "source": "en", "target": "fr"}).encode()


class EndlessService(ScriptedService):
    """Tells of one piece, then works until it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled = False

    async def translate(self, request: TranslateRequest, tell: Tell | None = None) -> TranslateResult:
        assert tell is not None
        tell(Progress(0, 0, "▁Le", None))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError


@pytest.mark.parametrize("spec_version", ["2.3", "2.4"])
@pytest.mark.parametrize("leaves_after", ["http.response.start", "http.response.body"])
def test_work_ends_when_the_client_leaves(leaves_after: str, spec_version: str) -> None:
    service = EndlessService()

    async def scenario() -> None:
        gone = asyncio.Event()
        body = iter([{"type": "http.request", "body": BODY}])

        async def receive() -> Any:
            if (message := next(body, None)) is not None:
                return message
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == leaves_after:
                gone.set()
                if spec_version == "2.4":
                    raise OSError
                await asyncio.sleep(10)  # the socket does not take it; who listens hears that the client is gone

        app = create_app(Settings(), lambda _: Running(service, 1, service.stop))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": spec_version},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/translate/stream",
            "raw_path": b"/translate/stream",
            "query_string": b"",
            "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())],
        }
        async with app.router.lifespan_context(app):
            try:
                await asyncio.wait_for(app(scope, receive, send), 5)
            except Exception as error:
                assert spec_version == "2.4", error  # noqa: PT017
            await asyncio.sleep(0)
            assert service.cancelled

    asyncio.run(scenario())

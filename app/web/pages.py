"""Routes to the page, to the page of a single map that others may embed, and to their files."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

_FILES = Path(__file__).parent / "files"
_FRESH = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}
"""Asked for anew each time (304 where nothing changed): a new page must not meet modules of an older version."""


def _headers(frame_ancestors: str) -> dict[str, str]:
    """Everything from this server alone; ``frame_ancestors`` says who may show the page inside another one."""
    return {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}",
        "Referrer-Policy": "no-referrer",
        **_FRESH,
    }


class _FreshFiles(StaticFiles):
    """Files that a browser may keep, but asks about before it uses them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_FRESH)
        return response


def add_to(app: FastAPI) -> None:
    """Adds ``GET /``, ``GET /embed`` and the files that they load."""

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_FILES / "index.html", headers=_headers("'none'"))

    @app.get("/embed", include_in_schema=False)
    async def embedded() -> FileResponse:
        return FileResponse(_FILES / "embed.html", headers=_headers("*"))

    app.mount("/web", _FreshFiles(directory=_FILES), name="web")

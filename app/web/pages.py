"""Routes to the page, to the page of a single map that others may embed, and to their files."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles

_FILES = Path(__file__).parent / "files"


def _headers(frame_ancestors: str) -> dict[str, str]:
    """Everything from this server alone; ``frame_ancestors`` says who may show the page inside another one."""
    return {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        f"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }


def add_to(app: FastAPI) -> None:
    """Adds ``GET /``, ``GET /embed`` and the files that they load."""

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_FILES / "index.html", headers=_headers("'none'"))

    @app.get("/embed", include_in_schema=False)
    async def embedded() -> FileResponse:
        return FileResponse(_FILES / "embed.html", headers=_headers("*"))

    app.mount("/web", StaticFiles(directory=_FILES), name="web")

import asyncio

from app import __version__
from app.settings import Settings
from tests.api.scripted_service import ScriptedService, client_of


def test_languages_info_and_health() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService(), Settings(max_texts=7)) as client:
            languages, info = (await client.get("/languages")).json(), (await client.get("/info")).json()
            assert (await client.get("/health/live")).json() == {"status": "alive"}
            assert (await client.get("/health/ready")).json() == {"status": "ready"}
        assert languages == {"directions": [{"source": "en", "target": "fr"}, {"source": "fr", "target": "en"}]}
        assert info["version"] == __version__
        assert info["model"]["id"] == "scripted"
        assert info["model"]["certificate"] == {"bleu": 100.0}
        assert info["limits"] == {
            "max_texts": 7,
            "max_characters": 50_000,
            "max_sentences": 4_096,
            "max_beam_size": 16,
            "default_beam_size": 4,
            "default_length_penalty": 1.0,
            "max_attention_values": 200_000,
        }

    asyncio.run(scenario())


def test_readiness_asks_the_service() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService(is_ready=False)) as client:
            ready, live = await client.get("/health/ready"), await client.get("/health/live")
        assert (ready.status_code, ready.json()["error"]["code"]) == (503, "not_ready")
        assert "retry-after" in ready.headers
        assert live.status_code == 200

    asyncio.run(scenario())


def test_head_gets_the_headers_of_get_alone() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService()) as client:
            for path in ("/", "/embed", "/info", "/health/live", "/health/ready", "/web/main.js"):
                head, get = await client.head(path), await client.get(path)
                assert (head.status_code, head.content) == (200, b"")
                assert get.content
                assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.content))
            assert (await client.head("/translate")).status_code == 405

    asyncio.run(scenario())


def test_page_and_documentation_load_nothing_from_other_hosts() -> None:
    async def scenario() -> None:
        async with client_of(ScriptedService()) as client:
            page = await client.get("/")
            assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
            for path in ("/web/main.js", "/web/style.css", "/web/views.css", "/web/icon.svg"):
                assert path in page.text
                file = await client.get(path)
                assert file.status_code == 200
                assert "http" not in file.text.replace("http://www.w3.org/2000/svg", "")
            documentation = await client.get("/docs")
        for html in (page.text, documentation.text):
            assert "http://" not in html
            assert "https://" not in html

    asyncio.run(scenario())

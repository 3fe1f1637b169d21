"""Requests that share decodes, with the bundled model: the same bytes as alone, and what `/metrics` says of it."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator

import httpx

from app.main import create_app
from app.settings import Settings

TEXT = "The cat sleeps on the chair. Where is the station? I would like a cup of coffee. The cat sleeps on the chair."
OTHER = "We are going to the market tomorrow. Where is the station? She reads a book every evening."


@contextlib.asynccontextmanager
async def client_of(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(settings)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client,
    ):
        yield client


async def answer(client: httpx.AsyncClient, text: str, beam_size: int, path: str = "/translate") -> bytes:
    body = {"text": text, "source": "en", "target": "fr", "beam_size": beam_size, "alternatives": beam_size - 1}
    return (await client.post(path, json=body)).raise_for_status().content


async def numbers(client: httpx.AsyncClient) -> dict[str, int]:
    text = (await client.get("/metrics")).text
    return {name: int(value) for name, value in re.findall(r"^(vitrail\S+) (\d+)$", text, re.MULTILINE)}


def test_shared_answers_are_byte_for_byte_those_alone() -> None:
    async def scenario() -> None:
        async with client_of(Settings()) as client:
            wanted = [(TEXT, 1), (OTHER, 1), (TEXT, 3), (OTHER, 3)]
            alone = [await answer(client, *one) for one in wanted]
            before = await numbers(client)
            together = await asyncio.gather(*(answer(client, *one) for one in wanted * 4))
            after = await numbers(client)
        assert together == alone * 4
        taken = after["vitrail_sentences_total"] - before["vitrail_sentences_total"]
        assert taken == 4 * 2 * (4 + 3)
        assert after["vitrail_shared_sentences_total"] - before["vitrail_shared_sentences_total"] > 20
        assert after["vitrail_waiting_sentences"] == after["vitrail_rows"] == 0

    asyncio.run(scenario())


def test_streams_that_begin_at_different_times_tell_the_same() -> None:
    async def scenario() -> None:
        async with client_of(Settings()) as client:

            async def events(late_seconds: float) -> list[str]:
                await asyncio.sleep(late_seconds)
                return (await answer(client, TEXT, 1, "/translate/stream")).decode().split("\n\n")

            found = await asyncio.gather(*(events(0.005 * number) for number in range(6)))
        assert all(sorted(one) == sorted(found[0]) for one in found)
        assert found[0][-2].startswith("event: result")

    asyncio.run(scenario())


def test_positions_of_a_sentence_alone() -> None:
    async def scenario() -> None:
        async with client_of(Settings()) as client:
            await answer(client, "The cat sleeps.", 2)
            found = await numbers(client)

        def both(part: str) -> tuple[int, int]:
            kinds = (found[f'vitrail_positions_total{{part="{part}",kind="{kind}"}}'] for kind in ("real", "padding"))
            real, padding = kinds
            return real, padding

        real, padding = both("encoder")
        assert (real + padding, 0 < real <= 16) == (16, True)
        cross_real, cross_padding = both("decoder_cross")
        assert cross_real % (2 * real) == 0
        assert cross_padding == cross_real // real * padding

    asyncio.run(scenario())

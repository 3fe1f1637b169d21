import asyncio
from pathlib import Path

import pytest

from app.attention import png_queue
from app.attention.drawing import Drawing
from app.attention.png import PngFailed, PngUnavailable
from app.attention.png_queue import PngQueue
from app.errors import DeadlineExceeded, QueueFull, TooLarge
from tests.attention.resvg import PICTURE, PLAIN, hang, is_running, processes, stand_in


def plain() -> list[Drawing]:
    return [PLAIN]


def test_two_are_drawn_at_once_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, here = tmp_path / "counts", tmp_path / "here"
    here.mkdir()
    then = f"""
    mine = {str(here)!r} + f"/{{os.getpid()}}"
    open(mine, "w").close()
    time.sleep(0.3)
    with open({str(counts)!r}, "a") as file:
        print(len(os.listdir({str(here)!r})), file=file)
    time.sleep(0.1)
    os.remove(mine)"""
    stand_in(tmp_path, monkeypatch, then=then)

    async def scenario() -> list[bytes]:
        queue = PngQueue()
        return await asyncio.gather(*(queue.draw(plain) for _ in range(6)))

    assert asyncio.run(scenario()) == [PICTURE] * 6
    assert max(map(int, counts.read_text().split())) == 2


def test_above_its_room_drawings_are_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = hang(tmp_path, monkeypatch)

    async def scenario() -> None:
        queue = PngQueue(waiting=3)
        inside = [asyncio.create_task(queue.draw(plain)) for _ in range(5)]
        running = await processes(begun, 2)
        with pytest.raises(QueueFull, match="3 pictures are waiting, the queue holds 3") as refused:
            await queue.draw(lambda: pytest.fail("made"))
        assert (refused.value.waiting, refused.value.limit) == (3, 3)

        inside.pop().cancel()  # one that waits
        await asyncio.sleep(0)
        queue.check_room()
        for task in inside:
            task.cancel()
        await asyncio.gather(*inside, return_exceptions=True)
        assert len(list(begun.iterdir())) == len(running), "who left in the queue was not drawn"
        stand_in(tmp_path, monkeypatch)
        assert await asyncio.gather(*(queue.draw(plain) for _ in range(3))) == [PICTURE] * 3

    asyncio.run(scenario())


def test_who_leaves_takes_the_process_along_and_the_next_has_the_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = hang(tmp_path, monkeypatch)

    async def scenario() -> None:
        queue = PngQueue()
        inside = [asyncio.create_task(queue.draw(plain)) for _ in range(3)]
        first = await processes(begun, 2)
        inside[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(inside[0], 5)
        assert sum(map(is_running, first)) == 1
        assert sum(map(is_running, await processes(begun, 3))) == 2
        for task in inside:
            task.cancel()
        await asyncio.gather(*inside, return_exceptions=True)
        assert not any(map(is_running, await processes(begun, 3)))

    asyncio.run(scenario())


def test_who_leaves_while_the_process_starts_leaves_none_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = hang(tmp_path, monkeypatch)

    async def scenario() -> None:
        queue = PngQueue()
        for steps in range(12):
            task = asyncio.create_task(queue.draw(plain))
            for _ in range(steps):
                await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), 5)
        stand_in(tmp_path, monkeypatch)
        assert await queue.draw(plain) == PICTURE

    asyncio.run(scenario())
    assert not any(is_running(int(path.name)) for path in begun.iterdir())


def test_a_picture_in_mid_write_does_not_keep_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a pipe comes to nobody who does not read it to its end."""
    begun = tmp_path / "begun"
    begun.mkdir()
    name = f"open({str(begun)!r} + f'/{{os.getpid()}}', 'w').close()"
    stand_in(tmp_path, monkeypatch, then=f"{name}; [os.write(1, b'x' * 65536) for _ in range(500)]; time.sleep(60)")

    async def scenario() -> None:
        task = asyncio.create_task(PngQueue().draw(plain))
        (process,) = await processes(begun, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 5)
        assert not is_running(process)

    asyncio.run(scenario())


def test_what_takes_too_long_is_killed_and_so_is_the_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = hang(tmp_path, monkeypatch)

    async def scenario() -> None:
        queue = PngQueue(seconds=0.5)
        ended = await asyncio.gather(*(queue.draw(plain) for _ in range(5)), return_exceptions=True)
        late = [error.seconds for error in ended if isinstance(error, DeadlineExceeded)]
        assert (late[:2], late[-1], len(late)) == ([0.5, 0.5], 1.0, 5)
        assert not any(is_running(int(path.name)) for path in begun.iterdir())
        stand_in(tmp_path, monkeypatch)
        assert await asyncio.wait_for(_drawn(queue), 30) == PICTURE

    asyncio.run(scenario())


async def _drawn(queue: PngQueue) -> bytes:
    """Tries again where the machine is too busy to be as quick as ``queue`` wants it."""
    while True:
        try:
            return await queue.draw(plain)
        except DeadlineExceeded:
            continue


def test_what_goes_wrong_is_told_and_gives_the_turn_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        queue = PngQueue()
        for _ in range(3):
            with pytest.raises(TooLarge):
                await queue.draw(lambda: [Drawing("", 4_000, 4_000, ())])
            with monkeypatch.context() as patch:
                patch.setattr(png_queue, "COMMAND", (str(tmp_path / "none"),))
                with pytest.raises(PngFailed, match="did not start"):
                    await queue.draw(plain)
        stand_in(tmp_path, monkeypatch, then="os.abort()")
        with pytest.raises(PngFailed, match="by signal 6"):
            await queue.draw(plain)
        stand_in(tmp_path, monkeypatch, "Warning (in usvg::text:143): No match for '\"Noto Sans\"' font-family.\n")
        with pytest.raises(PngUnavailable, match="fonts-dejavu-core"):
            await queue.draw(plain)
        stand_in(tmp_path, monkeypatch)
        assert await queue.draw(plain) == PICTURE

    asyncio.run(scenario())

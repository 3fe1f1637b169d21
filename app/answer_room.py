"""How much attention one answer holds, and what somebody is told who asks for more."""

from collections.abc import Iterable

from app.attention.encodings import estimated_bytes
from app.attention.selection import Encoding, MapFormat
from app.errors import TooLarge
from app.explanation import ExplainedSegment, ExplanationRequest

# Bytes are written and read a hundred times faster than JSON, and are a seventh of its size.
_BINARY_ROOM = 50


class AnswerRoom:
    """Room for ``max_values`` weights in JSON and in pictures, and for 50 times as many as bytes."""

    def __init__(self, max_values: int) -> None:
        self._max_values = max_values

    def check_maps(self, values: int, form: MapFormat, field: str) -> None:
        """Passes so many weights of maps.

        Raises:
            TooLarge: they are too many; the message says how large they are in every encoding.
        """
        limit = self._limit(form.encoding)
        if values > limit:
            message = f"the attention asked for has {values:,} values, {self._advice(form, values)}"
            raise TooLarge(message, field=field, limit=limit, value=values)

    def check_soft(self, wanted: ExplanationRequest, segments: Iterable[ExplainedSegment]) -> None:
        """Passes the weights between words or pieces that ``wanted`` asks for, which are always JSON.

        Raises:
            TooLarge: they are too many.
        """
        both = [(one.source.tokenised, one.target.side.tokenised) for one in segments if one.target]
        words = sum(len(source.words) * len(target.words) for source, target in both) if wanted.soft else 0
        pieces = sum(len(source.tokens) * len(target.tokens) for source, target in both) if wanted.marian else 0
        for name, values, units in (("soft", words, "words"), ("marian", pieces, "pieces")):
            if values > self._max_values:
                message = (
                    f"alignment.{name}: {values:,} weights between {units}, "
                    f"an answer holds {self._max_values:,}: leave it out"
                )
                raise TooLarge(message, field=f"alignment.{name}", limit=self._max_values, value=values)

    def _advice(self, form: MapFormat, values: int) -> str:
        """How many values an answer holds, and what to do about ``values``, which are more."""
        limit = self._limit(form.encoding)
        if form.encoding == "picture":
            return f"a picture holds {limit:,}: choose layers or heads, ask for words, fewer families or a shorter text"
        others = f" (base64 and npz {self._limit('base64'):,})" if form.encoding == "json" else ""
        sizes = ", ".join(f"{name} {_size(size)}" for name, size in estimated_bytes(values, form.decimals).items())
        return (
            f"an answer in {form.encoding} holds {limit:,}{others}: "
            f"choose layers or heads, aggregate, ask for words or a resolution; sizes: {sizes}"
        )

    def _limit(self, encoding: Encoding) -> int:
        return self._max_values * (_BINARY_ROOM if encoding in ("base64", "npz") else 1)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"

"""Types of fields that several requests share."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError


def _branch(value: object) -> str:
    # In angle brackets, so that the branch of a union is not mistaken for a field in the path of a fault.
    return "<list>" if isinstance(value, list) else "<single>"


def _without_lone_surrogates(text: str) -> str:
    # JSON can escape them, but they are no characters and no answer could repeat them.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise PydanticCustomError("lone_surrogate", "Input should not hold a lone surrogate, which is no character")
    return text


Text = Annotated[
    str,
    AfterValidator(_without_lone_surrogates),
    Field(
        description="A text, as long as `/info` allows; line breaks, tabs and white space between sentences are kept."
    ),
]
_Indices = Annotated[
    list[Annotated[int, Field(ge=-1_000, le=1_000)]],
    Field(min_length=1, max_length=1_000, description="Some, by index."),
]
_All = Annotated[Literal["all"], Field(description="Every one.")]
OneOrMoreTexts = Annotated[
    Annotated[Text, Tag("<single>")]
    | Annotated[list[Text], Field(min_length=1, description="Several texts."), Tag("<list>")],
    Discriminator(_branch),
]
AllOrSome = Annotated[
    Annotated[_All, Tag("<single>")] | Annotated[_Indices, Tag("<list>")],
    Discriminator(_branch),
]


def indices(choice: str | list[int]) -> tuple[int, ...] | None:
    """``all`` is None in the words of the translator."""
    return None if isinstance(choice, str) else tuple(choice)

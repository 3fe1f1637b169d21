"""How far the rows of a sentence have the same past: what need not be copied when a beam goes on from another."""

import numpy as np
import numpy.typing as npt

from app.engine.step_model import Int64


class SharedPast:
    """Per sentence, for every two of its rows, how many of their first positions hold the same numbers.

    Two rows agree as far as one was copied from the other, or both from a third; a step makes them differ.
    """

    def __init__(self, sentences: int, width: int) -> None:
        self._common: npt.NDArray[np.int64] = np.zeros((sentences, width, width), np.int64)

    def reorder(self, parents: Int64, lengths: npt.NDArray[np.integer]) -> tuple[Int64, Int64, Int64]:
        """Row ``r`` of sentence ``s`` becomes what row ``parents[s, r]`` was, all with ``lengths[s]`` positions.

        Returns:
            The rows that change, counted over all sentences, the rows that they become, and from which position
            on the two differ.
        """
        sentences, width = parents.shape
        every = np.arange(sentences)
        rows = np.arange(width)
        changed, targets = np.nonzero(parents != rows)
        sources = parents[changed, targets]
        starts = self._common[changed, targets, sources]
        same_parent = parents[:, :, None] == parents[:, None, :]
        inherited = self._common[every[:, None, None], parents[:, :, None], parents[:, None, :]]
        self._common = np.where(same_parent, lengths[:, None, None], inherited)
        return changed * width + targets, changed * width + sources, starts

    def move(self, targets: Int64, sources: Int64) -> None:
        """Sentence ``targets[i]`` becomes what ``sources[i]`` was."""
        self._common[targets] = self._common[sources]

    def cut(self, sentences: int) -> None:
        """Forgets all but the first sentences."""
        self._common = self._common[:sentences]

    def append(self, other: "SharedPast") -> None:
        """Puts the sentences of ``other`` behind these."""
        self._common = np.concatenate([self._common, other._common])

"""The step model that serves: encoder and decoder-step graphs under ONNX Runtime."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.engine.step_model import Candidates, Decoding, Int64, ModelLimits
from app.errors import ModelDirectoryError
from app.runtime import names
from app.runtime.device_tensor_set import DeviceTensorSet
from app.runtime.model_directory import ModelConfig, ModelDirectory
from app.runtime.providers import RuntimeOptions, open_session
from app.runtime.shared_past import SharedPast
from app.runtime.source_memory import CrossMemory, bind_array, pad_sources, padded_len
from app.runtime.step_exchange import StepExchange
from app.runtime.tensor_set import HostTensorSet, NewTensorSet, TensorSet

_SPARE_POSITIONS = 32


@dataclass(frozen=True)
class _Graphs:
    """What all decodings of a model share.

    ``new_tensors(count, shape, length_axis)`` makes their memory; ``on_host`` tells whether that is the CPU's.
    """

    encoder: Any
    decoder_step: Any
    config: ModelConfig
    new_tensors: NewTensorSet
    on_host: bool


class OnnxStepModel:
    """Implements ``app.engine.step_model.StepModel``."""

    def __init__(self, directory: ModelDirectory, options: RuntimeOptions) -> None:
        """Opens the graphs.

        Raises:
            ModelDirectoryError: the directory has no graphs of this precision, or ONNX Runtime refuses them.
        """
        precision = options.resolved_precision()
        if precision not in directory.config.graphs:
            raise ModelDirectoryError(directory.path, [f"it has no {precision} graphs"])
        if options.resolved_provider() == "cuda" and precision != "float16":
            raise ModelDirectoryError(directory.path, [f"its {precision} graphs do not run on CUDA, float16 does"])
        files = directory.config.graphs[precision]
        self.precision = precision
        self._limits = model_limits(directory.config)
        self._graphs = _Graphs(
            encoder=open_session(directory, files.encoder, options),
            decoder_step=open_session(directory, files.decoder_step, options),
            config=directory.config,
            new_tensors=_memory(directory, options),
            on_host=options.resolved_provider() == "cpu",
        )

    @property
    def limits(self) -> ModelLimits:
        """Sizes and special ids."""
        return self._limits

    def encode(self, sources: Sequence[Sequence[int]], width: int) -> "OnnxDecoding":
        """Reads sentences (ids with tag and end of sentence) and stands before their first step.

        Raises:
            ValueError: no sentence, or one that is empty or longer than the model's limit.
        """
        lengths = [len(source) for source in sources]
        if not lengths or min(lengths) < 1 or max(lengths) > self._limits.source_len:
            raise ValueError(f"sources of 1 to {self._limits.source_len} ids, at least one; lengths are {lengths}")
        # Sentences of one padded length are read together: the encoder costs by the position, padding or not.
        padded = np.array([padded_len(length) for length in lengths])
        groups = [np.flatnonzero(padded == length) for length in np.unique(padded)[::-1]]
        memories = [self._read([sources[index] for index in group.tolist()]) for group in groups]
        cross = memories[0]
        if len(groups) > 1:
            cross.resize(len(sources), cross.keys.length, len(groups[0]))
            used = len(groups[0])
            for group, memory in zip(groups[1:], memories[1:], strict=True):
                cross.append(used, memory, len(group))
                used += len(group)
        architecture = self._graphs.config.architecture
        positions = min(_SPARE_POSITIONS + cross.keys.length, self._limits.target_len)
        shape = (len(sources) * width, architecture.heads, positions, architecture.head_dim)
        past = self._graphs.new_tensors(2 * architecture.decoder_layers, shape, 2)
        return OnnxDecoding(self._graphs, np.argsort(np.concatenate(groups)), width, cross, past)

    def _read(self, sources: Sequence[Sequence[int]]) -> CrossMemory:
        """Runs the encoder on sentences whose padded lengths are the same."""
        source_ids, source_mask = pad_sources(sources, self._graphs.config.special_ids.pad)
        cross = CrossMemory(self._graphs.config.architecture, source_mask, self._graphs.new_tensors)
        binding = self._graphs.encoder.io_binding()
        bind_array(binding, names.SOURCE_IDS, source_ids)
        bind_array(binding, names.SOURCE_MASK, source_mask)
        cross.bind(binding, len(sources), output=True)
        self._graphs.encoder.run_with_iobinding(binding)
        return cross


class OnnxDecoding:
    """Implements ``app.engine.step_model.Decoding``.

    Rows in use are the first of every buffer, so that a step binds them where they lie. A sentence that leaves
    is replaced by the one in the last slot, so the order in memory is not the order of the caller: ``_slots``
    says where each sentence lies. Buffers double when rows or positions run out; ``source_len`` is kept near
    the longest sentence present, because padding costs time at every step.
    """

    def __init__(self, graphs: _Graphs, slots: Int64, width: int, cross: CrossMemory, past: TensorSet) -> None:
        """``slots [sentences]``: where each sentence lies in ``cross``."""
        self._graphs = graphs
        self._width = width
        self._slots = slots
        self._cross = cross
        self._past = past
        self._past_len = np.zeros(len(cross.mask) * width, dtype=np.int32)
        self._longest = 0
        self._shared = SharedPast(len(cross.mask), width)
        self._exchange: StepExchange | None = None
        layers = range(graphs.config.architecture.decoder_layers)
        self._past_names = [name(layer) for layer in layers for name in (names.past_key, names.past_value)]
        self._present_names = [name(layer) for layer in layers for name in (names.present_key, names.present_value)]

    @property
    def sentences(self) -> int:
        """How many sentences it holds."""
        return len(self._slots)

    @property
    def width(self) -> int:
        """Rows per sentence."""
        return self._width

    @property
    def source_len(self) -> int:
        """Source positions that a step reads for every row, padding included."""
        return self._cross.keys.length

    def step(self, last_ids: Int64, k: int) -> Candidates:
        """Feeds ``last_ids [rows]`` and moves every row one position on.

        Raises:
            ValueError: not one id a row, or a row stands at the model's last position.
        """
        rows = self.sentences * self._width
        if last_ids.shape != (rows,):
            raise ValueError(f"{rows} rows need as many ids, not shape {last_ids.shape}")
        if rows == 0:
            return Candidates(np.empty((0, k), np.int64), np.empty((0, k), np.float32))
        self._reserve_positions(self._longest + 1)
        exchange = self._exchange_of(k)
        exchange.feed(last_ids, self._longest + 1)
        self._graphs.decoder_step.run_with_iobinding(exchange.binding)
        self._longest += 1
        return exchange.candidates()

    def reorder(self, parents: Int64) -> None:
        """Row ``r`` goes on from what row ``parents[r]`` was; only positions that differ are moved."""
        slots, width = self._slots, self._width
        within = np.empty((len(slots), width), np.int64)
        within[slots] = parents.reshape(-1, width) % width
        lengths = self._past_len.reshape(-1, width)[:, 0]
        targets, sources, starts = self._shared.reorder(within, lengths)
        if len(targets):
            self._past.move_parts(targets, sources, starts, self._past_len[targets].astype(np.int64))

    def keep(self, sentences: Sequence[int]) -> None:
        """Drops all sentences but these; they become the first ones, in the given order."""
        slots = self._slots[np.asarray(sentences, dtype=np.int64)]
        moved = np.flatnonzero(slots >= len(slots))
        if len(moved):
            taken = np.zeros(self.sentences, np.bool_)
            taken[slots] = True
            free = np.flatnonzero(~taken[: len(slots)])
            targets, sources = self._rows(free), self._rows(slots[moved])
            self._cross.move(free, slots[moved])
            self._past.move(targets, sources, int(self._past_len[sources].max()))
            self._past_len[targets] = self._past_len[sources]
            self._shared.move(free, slots[moved])
            slots[moved] = free
        self._slots = slots
        self._past_len = self._past_len[: len(slots) * self._width]
        self._longest = max(self._past_len.tolist(), default=0)
        self._shared.cut(len(slots))
        self._exchange = None
        needed = self._longest_source()
        if 0 < 2 * needed <= self._cross.keys.length:
            self._cross.resize(self._cross.keys.capacity, needed, len(slots))

    def join(self, other: Decoding) -> None:
        """Appends the sentences of ``other``, which must not be used again.

        Raises:
            ValueError: ``other`` is of another model or width.
        """
        if not isinstance(other, OnnxDecoding) or other._graphs is not self._graphs or other.width != self.width:
            raise ValueError("only decodings of the same model and width can be joined")
        used, joining = self.sentences, other.sentences
        self._reserve(used + joining, other)
        self._cross.append(used, other._cross, joining)
        if other._longest:
            self._past.append(used * self._width, other._past, joining * self._width)
        self._past_len = np.concatenate([self._past_len, other._past_len])
        self._longest = max(self._longest, other._longest)
        self._shared.append(other._shared)
        self._slots = np.concatenate([self._slots, used + other._slots])
        self._exchange = None

    def _reserve(self, sentences: int, other: "OnnxDecoding") -> None:
        """Room for so many sentences and for the lengths of ``other``."""
        keys, past = self._cross.keys, self._past
        room = keys.capacity if sentences <= keys.capacity else max(sentences, 2 * keys.capacity)
        source_len, positions = max(keys.length, other._cross.keys.length), max(past.length, other._past.length)
        if (room, source_len) != (keys.capacity, keys.length):
            self._cross.resize(room, source_len, self.sentences)
        if (room * self._width, positions) != (past.capacity, past.length):
            past.resize(room * self._width, positions, self._started_rows())

    def _reserve_positions(self, total_len: int) -> None:
        target_len = self._graphs.config.limits.target_len
        if total_len > target_len:
            raise ValueError(f"a row already stands at the model's last position, {target_len}")
        if total_len > self._past.length:
            positions = min(2 * self._past.length, target_len)
            self._past.resize(self._past.capacity, positions, self._started_rows())
            self._exchange = None

    def _started_rows(self) -> int:
        """How many rows must be kept when the past moves: none before the first step."""
        return self.sentences * self._width if self._longest else 0

    def _longest_source(self) -> int:
        """Padded length of the longest sentence held."""
        if self.sentences == 0:
            return 0
        return padded_len(int(self._cross.mask[: self.sentences].sum(axis=1).max()))

    def _rows(self, slots: Int64) -> Int64:
        """Rows of the sentences in ``slots``."""
        return (slots[:, None] * self._width + np.arange(self._width)).reshape(-1)

    def _exchange_of(self, k: int) -> StepExchange:
        """Everything bound that lies still between steps; ``None`` is left where it has moved."""
        if self._exchange is None or self._exchange.k != k:
            rows = self.sentences * self._width
            binding = self._graphs.decoder_step.io_binding()
            bind_array(binding, names.SOURCE_MASK, self._cross.mask[: self.sentences])
            self._cross.bind(binding, self.sentences, output=False)
            self._past.bind(binding, self._past_names, rows, output=False)
            self._past.bind(binding, self._present_names, rows, output=True)
            self._exchange = StepExchange(binding, self._past_len, self._rows(self._slots), k, self._graphs.on_host)
        return self._exchange


def model_limits(config: ModelConfig) -> ModelLimits:
    """What a search must know of a model."""
    return ModelLimits(
        vocab_size=config.architecture.vocab_size,
        source_len=config.limits.source_len,
        target_len=config.limits.target_len,
        bos_id=config.special_ids.bos,
        eos_id=config.special_ids.eos,
        source_multiple=names.SOURCE_LEN_MULTIPLE,
        whole_len=config.search.whole_len,
    )


def _memory(directory: ModelDirectory, options: RuntimeOptions) -> NewTensorSet:
    dtype = np.float16 if options.resolved_precision() == "float16" else np.float32
    if options.resolved_provider() == "cpu":
        return lambda count, shape, axis: HostTensorSet(count, shape, axis, dtype)
    session = open_session(directory, directory.config.copy_rows, options)
    return lambda count, shape, axis: DeviceTensorSet(session, count, shape, axis)

"""The three graphs: encoder, decoder step, explain; names and shapes in ``app.runtime.names``."""

import onnx
from onnx import TensorProto

from app.runtime import names
from app.runtime.providers import Precision
from export.arithmetic import Arithmetic, FloatArithmetic, IntegerArithmetic
from export.blocks import Blocks
from export.candidates import top_candidates
from export.decoder import DecoderStep, teacher_forced
from export.encoder import cross_memory, encode
from export.graph_builder import Axis, GraphBuilder
from export.weight_file import WeightFile
from model.config import TransformerConfig

ELEMENT_TYPES: dict[Precision, int] = {
    "int8": TensorProto.FLOAT,
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
}


def encoder_graph(config: TransformerConfig, weights: WeightFile, precision: Precision) -> onnx.ModelProto:
    """Source pieces to the keys and values that decoder steps attend to."""
    builder = GraphBuilder("encoder", weights)
    blocks = Blocks(builder, _arithmetic(builder, precision), config)
    source_ids = builder.input(names.SOURCE_IDS, TensorProto.INT64, [names.SENTENCES, names.SOURCE_LEN])
    source_mask = builder.input(names.SOURCE_MASK, TensorProto.BOOL, [names.SENTENCES, names.SOURCE_LEN])
    layout = blocks.layout(source_ids)
    states, _ = encode(blocks, source_ids, layout, blocks.source_bias(source_mask))
    element_type = ELEMENT_TYPES[precision]
    operand = blocks.arithmetic.operand(states)
    for layer in range(config.decoder_layers):
        key, value = cross_memory(blocks, operand, layout, layer)
        memory: tuple[tuple[str, str, list[Axis]], ...] = (
            (key, names.cross_key(layer), [config.head_dim, names.SOURCE_LEN]),
            (value, names.cross_value(layer), [names.SOURCE_LEN, config.head_dim]),
        )
        for tensor, name, axes in memory:
            builder.output(tensor, name, element_type, [names.SENTENCES, config.heads, *axes])
    return builder.model()


def decoder_step_graph(config: TransformerConfig, weights: WeightFile, precision: Precision) -> onnx.ModelProto:
    """One piece a row to the likeliest next pieces, caches updated in place."""
    builder = GraphBuilder("decoder_step", weights)
    blocks = Blocks(builder, _arithmetic(builder, precision), config)
    last_ids = builder.input(names.LAST_IDS, TensorProto.INT64, [names.ROWS])
    k = builder.input(names.K, TensorProto.INT64, [1])
    states = DecoderStep(blocks, last_ids, ELEMENT_TYPES[precision]).states()
    values, ids = top_candidates(builder, blocks.log_probs(states), k, config.vocab_size)
    builder.output(ids, names.CANDIDATE_IDS, TensorProto.INT64, [names.ROWS, names.K])
    builder.output(values, names.CANDIDATE_LOG_PROBS, TensorProto.FLOAT, [names.ROWS, names.K])
    return builder.model()


def explain_graph(config: TransformerConfig, weights: WeightFile) -> onnx.ModelProto:
    """A teacher-forced pass over (source, target), float32: log-probabilities and all attention weights."""
    builder = GraphBuilder("explain", weights)
    blocks = Blocks(builder, _arithmetic(builder, "float32"), config)
    source_ids = builder.input(names.SOURCE_IDS, TensorProto.INT64, [names.ROWS, names.SOURCE_LEN])
    source_mask = builder.input(names.SOURCE_MASK, TensorProto.BOOL, [names.ROWS, names.SOURCE_LEN])
    target_ids = builder.input(names.TARGET_IDS, TensorProto.INT64, [names.ROWS, names.TARGET_LEN])
    next_ids = builder.input(names.NEXT_IDS, TensorProto.INT64, [names.ROWS, names.TARGET_LEN])
    source_bias = blocks.source_bias(source_mask)
    layout = blocks.layout(source_ids)
    memory, encoder = encode(blocks, source_ids, layout, source_bias)
    states, decoder, cross = teacher_forced(blocks, target_ids, memory, layout, source_bias)
    flat = builder.node("Reshape", next_ids, builder.ints(-1, 1))
    chosen = builder.node("GatherElements", blocks.log_probs(states), flat, axis=1)
    log_probs = builder.node("Reshape", chosen, builder.node("Shape", target_ids))
    builder.output(log_probs, names.LOG_PROBS, TensorProto.FLOAT, [names.ROWS, names.TARGET_LEN])
    for weights_, name, axes in (
        (encoder, names.ENCODER_ATTENTION, [names.SOURCE_LEN, names.SOURCE_LEN]),
        (decoder, names.DECODER_ATTENTION, [names.TARGET_LEN, names.TARGET_LEN]),
        (cross, names.CROSS_ATTENTION, [names.TARGET_LEN, names.SOURCE_LEN]),
    ):
        stacked = _stack_layers(builder, weights_)
        builder.output(stacked, name, TensorProto.FLOAT, [names.ROWS, len(weights_), config.heads, *axes])
    return builder.model()


def copy_rows_graph(weights: WeightFile) -> onnx.ModelProto:
    """Picks rows of a float16 tensor and pads or cuts every axis: how caches move on a GPU."""
    builder = GraphBuilder("copy_rows", weights)
    tensor = builder.input(names.TENSOR, TensorProto.FLOAT16, ["from_rows", "b", "c", "d"])
    rows = builder.input(names.COPIED_ROWS, TensorProto.INT64, [names.ROWS])
    pads = builder.input(names.PADS, TensorProto.INT64, [8])
    copy = builder.node("Pad", builder.node("Gather", tensor, rows), pads)
    builder.output(copy, names.COPY, TensorProto.FLOAT16, [names.ROWS, "heads", "padded_c", "padded_d"])
    return builder.model()


def _stack_layers(builder: GraphBuilder, weights: list[str]) -> str:
    layers = [builder.node("Unsqueeze", layer, builder.ints(1)) for layer in weights]
    return builder.node("Concat", *layers, axis=1)


def _arithmetic(builder: GraphBuilder, precision: Precision) -> Arithmetic:
    if precision == "int8":
        return IntegerArithmetic(builder)
    return FloatArithmetic(builder, ELEMENT_TYPES[precision])

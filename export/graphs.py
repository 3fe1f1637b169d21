"""The graphs: encoder and decoder step, encoder and decoder for explaining; names in ``app.runtime.names``."""

import onnx
from onnx import TensorProto

from app.runtime import names
from app.runtime.providers import Precision
from export.arithmetic import Arithmetic, FloatArithmetic, IntegerArithmetic
from export.blocks import Blocks, Layout
from export.calibrate import MEMORY
from export.candidates import top_candidates
from export.decoder import DecoderStep, TeacherForced
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
    blocks = Blocks(builder, _arithmetic(builder, weights, precision), config)
    source_ids = builder.input(names.SOURCE_IDS, TensorProto.INT64, [names.SENTENCES, names.SOURCE_LEN])
    source_mask = builder.input(names.SOURCE_MASK, TensorProto.BOOL, [names.SENTENCES, names.SOURCE_LEN])
    layout = blocks.layout(source_ids)
    states, _ = encode(blocks, source_ids, layout, blocks.source_bias(source_mask))
    _memory_outputs(blocks, states, layout, ELEMENT_TYPES[precision])
    return builder.model()


def decoder_step_graph(config: TransformerConfig, weights: WeightFile, precision: Precision) -> onnx.ModelProto:
    """One piece a row to the likeliest next pieces, caches updated in place."""
    builder = GraphBuilder("decoder_step", weights)
    blocks = Blocks(builder, _arithmetic(builder, weights, precision), config)
    last_ids = builder.input(names.LAST_IDS, TensorProto.INT64, [names.ROWS])
    k = builder.input(names.K, TensorProto.INT64, [1])
    states = DecoderStep(blocks, last_ids, ELEMENT_TYPES[precision]).states()
    values, ids = top_candidates(builder, blocks.log_probs(states), k, config.vocab_size)
    builder.output(ids, names.CANDIDATE_IDS, TensorProto.INT64, [names.ROWS, names.K])
    builder.output(values, names.CANDIDATE_LOG_PROBS, TensorProto.FLOAT, [names.ROWS, names.K])
    return builder.model()


def explain_encoder_graph(config: TransformerConfig, weights: WeightFile) -> onnx.ModelProto:
    """Source pieces to attention weights and to what the explain decoder attends to, float32."""
    builder = GraphBuilder("explain_encoder", weights)
    blocks = Blocks(builder, _arithmetic(builder, weights, "float32"), config)
    source_ids = builder.input(names.SOURCE_IDS, TensorProto.INT64, [names.SENTENCES, names.SOURCE_LEN])
    source_mask = builder.input(names.SOURCE_MASK, TensorProto.BOOL, [names.SENTENCES, names.SOURCE_LEN])
    head_mask = _head_mask(blocks, names.ENCODER_HEAD_MASK, config.encoder_layers)
    layout = blocks.layout(source_ids)
    states, attention = encode(blocks, source_ids, layout, blocks.source_bias(source_mask), head_mask)
    _memory_outputs(blocks, states, layout, TensorProto.FLOAT)
    axes: list[Axis] = [names.SENTENCES, config.encoder_layers, config.heads, names.SOURCE_LEN, names.SOURCE_LEN]
    builder.output(_stack_layers(builder, attention), names.ENCODER_ATTENTION, TensorProto.FLOAT, axes)
    return builder.model()


def explain_decoder_graph(config: TransformerConfig, weights: WeightFile) -> onnx.ModelProto:
    """A teacher-forced pass over targets of sources read before, float32: probabilities, rivals, attention weights."""
    builder = GraphBuilder("explain_decoder", weights)
    blocks = Blocks(builder, _arithmetic(builder, weights, "float32"), config)
    source_mask = builder.input(names.SOURCE_MASK, TensorProto.BOOL, [names.SENTENCES, names.SOURCE_LEN])
    target_ids = builder.input(names.TARGET_IDS, TensorProto.INT64, [names.ROWS, names.TARGET_LEN])
    decoder_mask, cross_mask = (
        _head_mask(blocks, name, config.decoder_layers) for name in (names.DECODER_HEAD_MASK, names.CROSS_HEAD_MASK)
    )
    decoder = TeacherForced(blocks, target_ids, blocks.source_bias(source_mask), decoder_mask, cross_mask)
    _probabilities(blocks, decoder.states(), target_ids)
    for attention, name, keys in (
        (decoder.self_weights, names.DECODER_ATTENTION, names.TARGET_LEN),
        (decoder.cross_weights, names.CROSS_ATTENTION, names.SOURCE_LEN),
    ):
        axes: list[Axis] = [names.ROWS, config.decoder_layers, config.heads, names.TARGET_LEN, keys]
        builder.output(_stack_layers(builder, attention), name, TensorProto.FLOAT, axes)
    return builder.model()


def _head_mask(blocks: Blocks, name: str, layers: int) -> str:
    return blocks.builder.input(name, TensorProto.FLOAT, [layers, blocks.config.heads])


def _memory_outputs(blocks: Blocks, states: str, layout: Layout, element_type: int) -> None:
    """Keys and values of the source for every decoder layer."""
    config = blocks.config
    operand = blocks.arithmetic.operand(states, MEMORY)
    for layer in range(config.decoder_layers):
        key, value = cross_memory(blocks, operand, layout, layer)
        memory: tuple[tuple[str, str, list[Axis]], ...] = (
            (key, names.cross_key(layer), [config.head_dim, names.SOURCE_LEN]),
            (value, names.cross_value(layer), [names.SOURCE_LEN, config.head_dim]),
        )
        for tensor, name, axes in memory:
            blocks.builder.output(tensor, name, element_type, [names.SENTENCES, config.heads, *axes])


def _probabilities(blocks: Blocks, states: str, target_ids: str) -> None:
    """Outputs that come from the distribution over the vocabulary after each fed piece."""
    builder = blocks.builder
    shape = builder.node("Shape", target_ids)
    next_ids = builder.input(names.NEXT_IDS, TensorProto.INT64, [names.ROWS, names.TARGET_LEN])
    k = builder.input(names.K, TensorProto.INT64, [1])
    log_probs = blocks.log_probs(states)
    chosen = builder.node("GatherElements", log_probs, builder.node("Reshape", next_ids, builder.ints(-1, 1)), axis=1)
    terms = builder.node("Mul", builder.node("Exp", log_probs), log_probs)
    entropy = builder.node("Neg", builder.node("ReduceSum", terms, builder.ints(1), keepdims=0))
    for tensor, name in ((chosen, names.LOG_PROBS), (entropy, names.ENTROPY)):
        reshaped = builder.node("Reshape", tensor, shape)
        builder.output(reshaped, name, TensorProto.FLOAT, [names.ROWS, names.TARGET_LEN])
    values, ids = top_candidates(builder, log_probs, k, blocks.config.vocab_size)
    by_rival = builder.shape(shape, -1)
    for tensor, name, kind in (
        (values, names.RIVAL_LOG_PROBS, TensorProto.FLOAT),
        (ids, names.RIVAL_IDS, TensorProto.INT64),
    ):
        reshaped = builder.node("Reshape", tensor, by_rival)
        builder.output(reshaped, name, kind, [names.ROWS, names.TARGET_LEN, names.K])


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


def _arithmetic(builder: GraphBuilder, weights: WeightFile, precision: Precision) -> Arithmetic:
    if precision == "int8":
        return IntegerArithmetic(builder, weights.ranges)
    return FloatArithmetic(builder, ELEMENT_TYPES[precision])

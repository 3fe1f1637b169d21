"""Names of the graphs' inputs, outputs and axes: the contract between export and runtime.

Encoder: ``source_ids``, ``source_mask`` -> ``cross_key_*``, ``cross_value_*`` per decoder layer.
Decoder step: ``last_ids``, ``past_len``, ``total_len``, ``k``, ``source_mask``, cross keys and values, past keys
and values -> ``candidate_ids``, ``candidate_log_probs``, present keys and values, bound onto the memory of the past.
Explain encoder: ``source_ids``, ``source_mask``, ``encoder_head_mask`` -> ``encoder_attention``, cross keys and values.
Explain decoder: cross keys and values, ``source_mask``, ``target_ids``, ``next_ids``, ``k``, ``decoder_head_mask``,
``cross_head_mask`` -> ``log_probs``, ``rival_ids``, ``rival_log_probs``, ``entropy``, ``decoder_attention`` and
``cross_attention``. Its ``sentences`` are as many as its ``rows``, or one that all rows share.
Copy rows (float16, used on a GPU): ``tensor``, ``copied_rows``, ``pads`` -> ``copy``.

Shapes: cross key ``[sentences, heads, head_dim, source_len]``, scaled by ``head_dim ** -0.5``; cross value
``[sentences, heads, source_len, head_dim]``; past and present ``[rows, heads, positions, head_dim]``; a head mask
``[layers, heads]`` multiplies what each head gives (1 leaves it, 0 mutes it); rivals ``[rows, target_len, k]``.
"""

SOURCE_IDS = "source_ids"
SOURCE_MASK = "source_mask"
TARGET_IDS = "target_ids"
NEXT_IDS = "next_ids"
LAST_IDS = "last_ids"
PAST_LEN = "past_len"
TOTAL_LEN = "total_len"
K = "k"
CANDIDATE_IDS = "candidate_ids"
CANDIDATE_LOG_PROBS = "candidate_log_probs"
LOG_PROBS = "log_probs"
RIVAL_IDS = "rival_ids"
RIVAL_LOG_PROBS = "rival_log_probs"
ENTROPY = "entropy"
ENCODER_ATTENTION = "encoder_attention"
DECODER_ATTENTION = "decoder_attention"
CROSS_ATTENTION = "cross_attention"
ENCODER_HEAD_MASK = "encoder_head_mask"
DECODER_HEAD_MASK = "decoder_head_mask"
CROSS_HEAD_MASK = "cross_head_mask"
TENSOR = "tensor"
COPIED_ROWS = "copied_rows"
PADS = "pads"
COPY = "copy"

SENTENCES = "sentences"
ROWS = "rows"
SOURCE_LEN = "source_len"
TARGET_LEN = "target_len"
POSITIONS = "positions"

SOURCE_LEN_MULTIPLE = 16
"""``source_len`` is padded to a multiple of this, so that vector kernels add a sentence's numbers in one order."""


def cross_key(layer: int) -> str:
    """Keys of the source for decoder layer ``layer``."""
    return f"cross_key_{layer}"


def cross_value(layer: int) -> str:
    """Values of the source for decoder layer ``layer``."""
    return f"cross_value_{layer}"


def past_key(layer: int) -> str:
    """Keys of the positions fed so far, input of decoder layer ``layer``."""
    return f"past_key_{layer}"


def past_value(layer: int) -> str:
    """Values of the positions fed so far, input of decoder layer ``layer``."""
    return f"past_value_{layer}"


def present_key(layer: int) -> str:
    """``past_key`` with the new position, output of decoder layer ``layer``."""
    return f"present_key_{layer}"


def present_value(layer: int) -> str:
    """``past_value`` with the new position, output of decoder layer ``layer``."""
    return f"present_value_{layer}"


def encoder_file(precision: str) -> str:
    """File name of an encoder graph."""
    return f"encoder.{precision}.onnx"


def decoder_step_file(precision: str) -> str:
    """File name of a decoder-step graph."""
    return f"decoder_step.{precision}.onnx"

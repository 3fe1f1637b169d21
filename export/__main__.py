"""Makes a model directory: ``python -m export CHECKPOINT OUT --id NAME --texts PAIRS.tsv``.

The tokenizer lies beside CHECKPOINT. OUT appears when every check has passed; otherwise all faults are
printed, nothing is written and the exit code is 1.
"""

import argparse
import sys
from pathlib import Path

from app.runtime.model_directory import ALIGNMENT_RULES, SearchDefaults
from export.export import ExportError, ExportRequest, export_model
from export.model_directory import DEFAULT_SEARCH, AlignmentChoice

FEWEST_PAIRS = 300


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--id", help="the model's name (default: the name of OUT)")
    parser.add_argument(
        "--texts",
        type=Path,
        required=True,
        help=f"two columns of sentences to compare and score on, at least {FEWEST_PAIRS} lines",
    )
    parser.add_argument("--force", action="store_true", help="replace OUT if it is a model directory")
    parser.add_argument(
        "--beam-size", type=int, default=DEFAULT_SEARCH.beam_size, help="where a request does not say (%(default)s)"
    )
    parser.add_argument(
        "--length-penalty",
        type=float,
        default=DEFAULT_SEARCH.length_penalty,
        help="where a request does not say (%(default)s)",
    )
    parser.add_argument(
        "--whole-len",
        type=int,
        help="longest source in ids that is translated whole, longer ones in parts (default: all that the model reads)",
    )
    parser.add_argument(
        "--alignment-layer",
        type=int,
        help="decoder layer, counted from 0, whose cross-attention aligns words best (default: not measured)",
    )
    parser.add_argument(
        "--alignment-rule",
        choices=ALIGNMENT_RULES,
        default=ALIGNMENT_RULES[0],
        help="by which row of that layer: the one that predicts a piece, or the next, which is fed it (%(default)s)",
    )
    return parser.parse_args()


def main() -> int:
    """Command line; see the module's docstring."""
    arguments = _arguments()
    request = ExportRequest(
        checkpoint=arguments.checkpoint,
        output=arguments.output,
        model_id=arguments.id or arguments.output.name,
        texts=arguments.texts,
        force=arguments.force,
        search=SearchDefaults(arguments.beam_size, arguments.length_penalty, arguments.whole_len),
        fewest_pairs=FEWEST_PAIRS,
        alignment=AlignmentChoice(arguments.alignment_layer, arguments.alignment_rule),
    )
    try:
        certificate = export_model(request)
    except ExportError as error:
        print("\n".join(error.faults), file=sys.stderr)
        return 1
    for comparison in certificate["comparisons"]:
        print(f"{comparison['what']}, {comparison['precision']}: {comparison['largest']:.3g}")
    for quality in certificate["quality"]:
        scores = quality["scores"]
        print(f"{quality['direction']}, {quality['precision']}: BLEU {scores['bleu']:.2f}, chrF {scores['chrf']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

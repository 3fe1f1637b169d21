"""Makes a model directory: ``python -m export CHECKPOINT OUT --id NAME --texts PAIRS.tsv``.

The tokenizer lies beside CHECKPOINT. OUT appears when every check has passed; otherwise all faults are
printed, nothing is written and the exit code is 1.
"""

import argparse
import sys
from pathlib import Path

from export.export import ExportError, ExportRequest, export_model


def main() -> int:
    """Command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--id", help="the model's name (default: the name of OUT)")
    parser.add_argument("--texts", type=Path, help="two columns of sentences to compare and score on")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    arguments = parser.parse_args()
    request = ExportRequest(
        checkpoint=arguments.checkpoint,
        output=arguments.output,
        model_id=arguments.id or arguments.output.name,
        texts=arguments.texts,
        force=arguments.force,
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

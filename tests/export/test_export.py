"""A model directory appears whole or not at all."""

import dataclasses
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
import torch

import export.export
from app.engine.hypotheses import Hypothesis, SearchOptions
from app.engine.step_model import StepModel
from app.runtime.model_directory import CONFIG_FILE, WEIGHTS_FILE, SearchDefaults, open_model_directory
from app.runtime.onnx_step_model import OnnxStepModel
from app.runtime.providers import RuntimeOptions
from app.text.tokenizer import TOKENIZER_FILE, Tokenizer
from export.__main__ import main
from export.calibrate import MEMORY, PROJECTION_INPUT, Pair
from export.export import ExportError, ExportRequest, export_model
from export.model_directory import build_model_directory
from export.parity import Comparison
from export.placing import put_in_place
from export.quality import Quality, measure, quality_faults
from export.quantize import EMBEDDING, QuantizedWeights, quantize
from model.checkpoint import Checkpoint, load_checkpoint
from model.scoring import Scores, search_all
from model.step_model import TorchStepModel
from tests.conftest import PAIRS, random_pairs, tiny_run_config


def request(checkpoint: Path, output: Path, texts: Path | None = None, force: bool = False) -> ExportRequest:
    return ExportRequest(checkpoint, output, "tiny", texts, force)


@pytest.fixture
def few_texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pairs."""
    texts = tmp_path_factory.mktemp("texts") / "pairs.tsv"
    texts.write_text("".join(f"{en}\t{fr}\n" for en, fr in PAIRS[:3]), encoding="utf-8")
    return texts


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two checks find something."""
    monkeypatch.setattr(
        export.export,
        "_compare_numbers",
        lambda *_: [Comparison(what, "int8", "cases", 2.0, 1.0) for what in ("steps", "paths")],
    )


@pytest.mark.usefixtures("failing")
def test_a_failed_check_leaves_nothing_behind_and_every_fault_is_told(tiny_checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        export_model(request(tiny_checkpoint, tmp_path / "out"))
    assert [fault.split(",")[0] for fault in caught.value.faults] == ["steps", "paths"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("failing")
def test_a_failed_check_keeps_the_directory_that_was_there(tiny_checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / CONFIG_FILE).write_text('{"format_version": 1}')
    with pytest.raises(ExportError, match="steps"):
        export_model(request(tiny_checkpoint, tmp_path / "out", force=True))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == [CONFIG_FILE]


@pytest.mark.parametrize("config", [None, "{}", "[]", "not JSON"])
def test_only_a_model_directory_is_ever_replaced(tiny_checkpoint: Path, tmp_path: Path, config: str | None) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").touch()
    if config is not None:
        (tmp_path / "out" / CONFIG_FILE).write_text(config)
    with pytest.raises(ExportError, match="is not a model directory"):
        export_model(request(tiny_checkpoint, tmp_path / "out", force=True))
    assert (tmp_path / "out" / "precious").exists()


def test_what_the_export_does_not_write_comes_along(
    tiny_checkpoint: Path, tiny_model_directory: Path, tmp_path: Path
) -> None:
    output = shutil.copytree(tiny_model_directory, tmp_path / "out")
    (output / "figures").mkdir()
    for name in ("MODEL_CARD.md", "figures/curve.svg", "of_an_older_format.onnx", "signals.json", "analysis.json"):
        (output / name).write_text("old")
    (output / WEIGHTS_FILE).write_text("broken")
    export_model(request(tiny_checkpoint, output, force=True))
    open_model_directory(output)
    assert (output / "MODEL_CARD.md").read_text() == (output / "figures" / "curve.svg").read_text() == "old"
    left_behind = {"of_an_older_format.onnx", "signals.json", "analysis.json"}
    assert not left_behind & {path.name for path in output.iterdir()}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_old_directory_comes_back_when_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, staging = tmp_path / "out", tmp_path / "staging"
    output.mkdir()
    (output / "precious").touch()
    staging.mkdir()
    rename = Path.rename

    def fail_for_staging(self: Path, target: Path) -> Path:
        if self == staging:
            raise OSError("no space left")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_staging)
    with pytest.raises(OSError, match="no space"):
        put_in_place(staging, output)
    assert (output / "precious").exists()


def test_an_existing_directory_and_missing_files_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        export_model(request(tmp_path / "no.pt", tmp_path))
    assert len(caught.value.faults) == 3


def test_the_command_fails_with_code_1(
    tiny_checkpoint: Path,
    few_texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [str(tiny_checkpoint), str(tmp_path / "out"), "--texts", str(few_texts)]
    monkeypatch.setattr(sys, "argv", ["export", *arguments])
    assert main() == 1
    told = capsys.readouterr().err
    assert "3 pairs that the model can read from en-fr, at least 300 are needed" in told


def test_the_command_needs_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["export", str(tmp_path / "one.pt"), str(tmp_path / "out")])
    with pytest.raises(SystemExit):
        main()


def test_the_command_passes_its_search_on(few_texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = []

    def note(request: ExportRequest) -> dict[str, list[object]]:
        requests.append(request)
        return {"comparisons": [], "quality": []}

    monkeypatch.setattr("export.__main__.export_model", note)
    command = ["export", "one.pt", str(tmp_path / "out"), "--texts", str(few_texts)]
    for options in ([], ["--beam-size", "2", "--length-penalty", "0.6", "--whole-len", "50"]):
        monkeypatch.setattr(sys, "argv", [*command, *options])
        assert main() == 0
    assert [request.search for request in requests] == [SearchDefaults(4, 1.0), SearchDefaults(2, 0.6, 50)]


@pytest.mark.parametrize(
    ("search", "fault"),
    [
        (SearchDefaults(0, 1.0), "beam size must be at least 1"),
        (SearchDefaults(4, -1.0), "length penalty must be from 0"),
        (SearchDefaults(4, float("nan")), "length penalty must be from 0"),
        (SearchDefaults(4, 1.0, 9), "longest whole source must have 10 to 100 ids, not 9"),
        (SearchDefaults(4, 1.0, 101), "longest whole source must have 10 to 100 ids, not 101"),
    ],
)
def test_searches_that_no_request_could_ask_for_are_faults(
    tiny_checkpoint: Path, tmp_path: Path, search: SearchDefaults, fault: str
) -> None:
    with pytest.raises(ExportError, match=fault):
        export_model(dataclasses.replace(request(tiny_checkpoint, tmp_path / "out"), search=search))


def test_what_is_translated_whole_goes_with_the_model(tiny_checkpoint: Path, tmp_path: Path) -> None:
    search = SearchDefaults(4, 1.0, whole_len=50)
    export_model(dataclasses.replace(request(tiny_checkpoint, tmp_path / "out"), search=search))
    limits = OnnxStepModel(open_model_directory(tmp_path / "out"), RuntimeOptions("cpu", "int8")).limits
    assert (limits.longest_whole, limits.source_len) == (50, 102)


def test_without_texts_the_certificate_says_so(tiny_model_directory: Path) -> None:
    assert "not measured" in open_model_directory(tiny_model_directory).certificate()["texts"]


def test_texts_are_compared_and_scored_as_they_will_be_searched(
    tiny_checkpoint: Path, few_texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = set()

    def note(model: StepModel, sources: Sequence[Sequence[int]], options: SearchOptions) -> list[Hypothesis]:
        searched.add((options.beam_size, options.length_penalty))
        return search_all(model, sources, options)

    monkeypatch.setattr("export.quality.search_all", note)
    search = SearchDefaults(beam_size=2, length_penalty=0.5)
    certificate = export_model(
        dataclasses.replace(request(tiny_checkpoint, tmp_path / "out", few_texts), search=search)
    )
    assert searched == {(1, 0.5), (2, 0.5)}
    assert certificate["texts"] == "pairs.tsv"
    assert {(one["direction"], one["precision"]) for one in certificate["quality"]} == {
        (direction, precision)
        for direction in ("en-fr", "fr-en")
        for precision in ("checkpoint", "int8", "float32", "float16")
    }
    identity = [one for one in certificate["comparisons"] if one["what"] == "translations that differ"]
    assert [one["largest"] for one in identity] == [0, 0, 0, 0]
    assert open_model_directory(tmp_path / "out").certificate() == certificate


@pytest.mark.parametrize("text", ["one column\n", "word " * 200 + "\tmot\n"])
def test_texts_that_cannot_be_used_are_a_fault(tiny_checkpoint: Path, tmp_path: Path, text: str) -> None:
    texts = tmp_path / "pairs.tsv"
    texts.write_text(text, encoding="utf-8")
    with pytest.raises(ExportError, match=r"pairs\.tsv"):
        export_model(request(tiny_checkpoint, tmp_path / "out", texts))
    assert not (tmp_path / "out").exists()


def test_a_third_of_the_texts_and_random_pieces_calibrate(
    tiny_checkpoint: Path, few_texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every product of the int8 graphs has a range, of sentences that do not judge it."""
    calibrating, weights = [], []

    def note(checkpoint: Checkpoint, pairs: Iterable[Pair]) -> QuantizedWeights:
        calibrating.extend(pairs)
        weights.append(quantize(checkpoint, calibrating))
        return weights[-1]

    monkeypatch.setattr(export.export, "quantize", note)
    certificate = export_model(request(tiny_checkpoint, tmp_path / "out", few_texts))
    products = {name.removesuffix(".weight") for name in weights[0].matrices if name != EMBEDDING}
    products = {MEMORY if name.endswith(".memory") else name for name in products} | {PROJECTION_INPUT}
    assert set(weights[0].ranges) == products
    tokenizer = Tokenizer(tiny_checkpoint.with_name(TOKENIZER_FILE))
    lines = [line.split("\t") for line in few_texts.read_text(encoding="utf-8").splitlines()]
    expected = [tokenizer.encode_source(lines[2][0], "fr"), tokenizer.encode_source(lines[2][1], "en")]
    assert [list(source) for source, _ in calibrating[:2]] == expected
    assert len(calibrating) == 2 + 60
    assert {one["sentences"] for one in certificate["quality"]} == {len(lines) - 1}


def test_the_same_checkpoint_gives_the_same_revision(tiny_checkpoint: Path, tiny_model_directory: Path) -> None:
    again = tiny_checkpoint.with_name("again")
    export_model(dataclasses.replace(request(tiny_checkpoint, again), model_id="tiny-en-fr"))
    revisions = {open_model_directory(path).config.revision for path in (again, tiny_model_directory)}
    shutil.rmtree(again)
    assert len(revisions) == 1


def test_the_revision_covers_the_configuration(tiny_checkpoint: Path, tiny_tokenizer: Path, tmp_path: Path) -> None:
    weights = quantize(load_checkpoint(tiny_checkpoint), random_pairs(tiny_run_config()))
    revisions = set()
    for number, length_penalty in enumerate((1.0, 0.6)):
        (tmp_path / str(number)).mkdir()
        search = SearchDefaults(4, length_penalty)
        config = build_model_directory(weights, tiny_tokenizer, tmp_path / str(number), "tiny", search)
        revisions.add(config.revision)
    assert len(revisions) == 2


def test_the_checkpoint_is_scored_with_its_own_weights(
    tiny_checkpoint: Path, few_texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = load_checkpoint(tiny_checkpoint).weights["encoder.0.feed_forward.expand.weight"]
    scored = {}

    def note(model: TorchStepModel | OnnxStepModel, precision: str, *arguments: Any) -> Quality:
        scored[precision] = model
        return measure(model, precision, *arguments)

    monkeypatch.setattr(export.export, "measure", note)
    export_model(request(tiny_checkpoint, tmp_path / "out", few_texts))
    model = scored["checkpoint"]
    assert isinstance(model, TorchStepModel)
    assert torch.equal(model._transformer.state_dict()["encoder.0.feed_forward.expand.weight"], trained)


@pytest.mark.parametrize(("int8", "faults"), [(29.8, 0), (29.6, 1)])
def test_too_large_a_drop_is_a_fault(int8: float, faults: int) -> None:
    qualities = [
        Quality("en-fr", precision, 10, Scores(bleu, 50, "", ""))
        for precision, bleu in (("float32", 29.8), ("checkpoint", 30.0), ("int8", int8))
    ]
    assert len(list(quality_faults(qualities))) == faults


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_weights_are_dequantised_when_a_session_opens(
    tiny_model_directory: Path, tmp_path: Path, precision: str
) -> None:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.log_severity_level = 3
    graph = tiny_model_directory / f"decoder_step.{precision}.onnx"
    onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    optimised = onnx.load(tmp_path / "optimised.onnx", load_external_data=False).graph
    stored = {tensor.name for tensor in optimised.initializer if tensor.data_type == onnx.TensorProto.INT8}
    assert stored == {"embedding"}, "rows are looked up in it; the projection has floats of its own"


def test_graphs_hold_no_weights_of_their_own(tiny_model_directory: Path) -> None:
    weights = (tiny_model_directory / WEIGHTS_FILE).stat().st_size
    assert all(graph.stat().st_size < weights for graph in tiny_model_directory.glob("*.onnx"))
    for path in tiny_model_directory.glob("*.onnx"):
        for tensor in onnx.load(path, load_external_data=False).graph.initializer:
            assert tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.raw_data) <= 64

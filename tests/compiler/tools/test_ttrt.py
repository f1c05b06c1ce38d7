"""`ttrt` on the command line and as classes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ttnn
from testkit.binaries_2024_09 import HOST, Tensors, of_programs, operation, pipeline
from ttnn.base.exceptions import ArgumentError
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.system import current_system
from ttnn.compiler.target.flatbuffer import system_desc
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.versions import parse_module, print_module

torch = pytest.importorskip("torch", reason="ttrt makes inputs with torch")
ttrt = pytest.importorskip("ttrt")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TT_MLIR_HOME", raising=False)
    return tmp_path


def relu_binary(shape: tuple[int, ...] = (64, 128)) -> Binary:
    given = Tensors()(shape, HOST)
    return pipeline("EltwiseOp", {"type": "Relu", "ins": ["IN0"], "out": "OUT"}, [given], shape)


def identity_binary() -> Binary:
    shape = (32, 32)
    given = Tensors()(shape, HOST)
    return pipeline("ReshapeOp", {"in": "IN0", "out": "OUT", "shape": list(shape)}, [given], shape)


def store(binary: Binary, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(binary.to_bytes())
    return str(path)


def of_system(binary: Binary, system: SystemDesc) -> Binary:
    return of_programs(binary.values["programs"], system)


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def results(command: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(f"{command}_results.json").read_text())
    return found


def test_query_writes_the_system_descriptor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ttrt.main(["query", "--save-artifacts"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["system_desc"]["chip_descs"][0]["arch"] == "Wormhole_b0"
    assert system_desc.load(folder / "ttrt-artifacts/system_desc.ttsys") == SystemDesc.default()


def test_query_describes_the_chip_that_arch_name_selects(folder: Path) -> None:
    environment = os.environ | {"ARCH_NAME": "blackhole"}
    command = [sys.executable, "-m", "ttrt", "query", "--save-artifacts", "--artifact-dir", str(folder / "elsewhere")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (chip,) = json.loads(done.stdout)["system_desc"]["chip_descs"]
    assert (chip["arch"], chip["grid_size"]) == ("Blackhole", {"y": 10, "x": 13})
    assert system_desc.load(folder / "elsewhere/system_desc.ttsys").chips[0].arch == "blackhole"


def test_help_imports_neither_the_package_nor_torch() -> None:
    heavy = {"numpy", "torch", "ttnn", "xdsl"}
    shown = f"print(sorted({heavy} & {{*sys.modules}}))"
    script = f"import sys, ttrt\ntry:\n    ttrt.main(['--help'])\nfinally:\n    {shown}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert all(command in done.stdout for command in ("query", "read", "run", "perf", "check"))
    assert done.stdout.endswith("[]\n"), done.stdout + done.stderr


def test_run_result_equals_the_operator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(relu_binary(), folder / "relu.ttnn")
    assert ttrt.main(["run", path, "--seed", "3", "--save-artifacts", "--non-zero"]) == 0
    assert capsys.readouterr().out == f"{path}: pass\n"
    run = folder / "ttrt-artifacts/relu.ttnn/run/program_0"
    given, got = (torch.load(run / f"program_0_{kind}_0.pt") for kind in ("input", "output"))
    torch.manual_seed(3)
    assert torch.equal(given, torch.randn(64, 128))
    assert torch.equal(got, torch.relu(given))
    assert {entry.name for entry in run.parents[1].iterdir()} == {"relu.ttnn", "run", "perf", "system_desc.ttsys"}
    assert (run.parents[1] / "relu.ttnn").read_bytes() == Path(path).read_bytes()
    (result,) = results("run")
    assert (result["file_path"], result["result"], result["exception"]) == (path, "pass", "")


@pytest.mark.parametrize("init", ["arange", "ones", "randn"])
def test_identity_option_compares_outputs_with_inputs(folder: Path, init: str) -> None:
    options = ["--init", init, "--loops", "10", "--identity"]
    assert ttrt.main(["run", store(identity_binary(), folder / "same.ttnn"), *options]) == 0
    code = ttrt.main(["run", store(relu_binary(), folder / "relu.ttnn"), *options])
    assert code == (1 if init == "randn" else 0)
    if code:
        assert results("run")[0]["exception"] == "program 0: output 0 differs from input 0"


def test_non_zero_option_fails_on_zeros(folder: Path) -> None:
    assert ttrt.main(["run", store(relu_binary(), folder / "a.ttnn"), "--init", "zeros", "--non-zero"]) == 1
    assert results("run")[0]["exception"] == "program 0: output 0 is zero everywhere"


def test_run_accepts_folders_and_selected_programs(folder: Path) -> None:
    both = of_programs(relu_binary().values["programs"] + identity_binary().values["programs"])
    store(both, folder / "many/deep/both.ttnn")
    store(identity_binary(), folder / "many/same.ttnn")
    assert ttrt.main(["run", "many"]) == 0
    assert [result["result"] for result in results("run")] == ["pass", "pass"]
    assert ttrt.main(["run", "many/deep", "--program-index", "1", "--identity"]) == 0
    assert ttrt.main(["run", "many", "--program-index", "1"]) == 1
    assert [result["result"] for result in results("run")] == ["skip", "pass"]
    assert "there is no program 1; there are 0 to 0" in results("run")[0]["exception"]


def test_check_prints_both_descriptors_of_another_chip(folder: Path) -> None:
    path = store(of_system(relu_binary(), SystemDesc.for_arch("blackhole")), folder / "blackhole.ttnn")
    good = store(identity_binary(), folder / "same.ttnn")
    assert ttrt.main(["run", str(folder)]) == 1
    assert [(result["file_path"], result["result"]) for result in results("run")] == [(path, "skip"), (good, "pass")]
    reason = results("run")[0]["exception"]
    assert "1 x blackhole of 10x13 workers" in reason
    assert "1 x wormhole_b0 of 8x8 workers" in reason
    assert ttrt.main(["check", path]) == 1
    assert "1 x blackhole of 10x13 workers" in results("check")[0]["exception"]
    assert ttrt.main(["check", good]) == 0


def test_check_compares_with_descriptor_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(relu_binary(), folder / "relu.ttnn")
    for arch in ("wormhole_b0", "blackhole"):
        made = system_desc.make_binary(SystemDesc.for_arch(arch), ttnn.__version__)
        store(made, folder / f"systems/{arch}.ttsys")
    assert ttrt.main(["check", path, "--system-desc", "systems/wormhole_b0.ttsys"]) == 0
    assert "the system descriptor matches" in capsys.readouterr().out
    assert ttrt.main(["check", path, "--system-desc", "systems/blackhole.ttsys"]) == 1
    assert "chip 0: grid: (8, 8) and (10, 13)" in results("check")[0]["exception"]
    assert ttrt.main(["check", path, "--system-desc", "systems"]) == 0
    assert ttrt.main(["check", path, "--system-desc", "relu.ttnn"]) == 1


def test_other_versions_are_refused_unless_ignored(folder: Path) -> None:
    other = relu_binary()
    other.values["version"] = {"major": 9, "minor": 8, "patch": 7}
    path = store(other, folder / "other.ttnn")
    assert ttrt.main(["run", path]) == 1
    assert "written by version 9.8.7" in results("run")[0]["exception"]
    assert ttrt.main(["run", path, "--ignore-version"]) == 0
    assert ttrt.main(["read", path]) == 1


def test_damaged_and_missing_files_print_one_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = relu_binary().to_bytes()
    (folder / "cut.ttnn").write_bytes(data[: len(data) // 2])
    for command in ("run", "read", "check", "perf"):
        assert ttrt.main([command, "cut.ttnn"]) == 1
        assert "the file is truncated" in results(command)[0]["exception"].lower()
        assert ttrt.main([command, "nowhere.ttnn"]) == 1
        assert "there is no such file" in results(command)[0]["exception"]
    assert "Traceback" not in capsys.readouterr().err


def test_read_prints_each_section(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(relu_binary(), folder / "relu.ttnn")
    assert ttrt.main(["read", path]) == 0
    everything = json.loads(capsys.readouterr().out)
    assert everything["version"] == {
        "version": Binary.load(path).version,
        "ttmlir_git_hash": "0",
        "file_identifier": "TTNN",
    }
    assert everything["inputs"][0]["inputs"][0]["desc"]["shape"] == [64, 128]
    assert everything["op_stats"] == [
        {
            "program": "main",
            "op_stats": {
                "GetDeviceOp": 1,
                "ToLayoutOp": 1,
                "ToDeviceOp": 1,
                "EmptyOp": 1,
                "EltwiseOp": 1,
                "ToMemoryConfigOp": 1,
            },
        }
    ]
    for section in ("version", "system_desc", "mlir", "cpp", "inputs", "outputs", "op_stats", "mesh_shape"):
        assert ttrt.main(["read", path, "--section", section]) == 0
        assert json.loads(capsys.readouterr().out) == {section: everything[section]}


def test_read_prints_a_system_descriptor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = system_desc.make_binary(SystemDesc.for_arch("wormhole_b0", 2), ttnn.__version__)
    path = store(made, folder / "n300.ttsys")
    assert ttrt.main(["read", path, "--section", "system_desc"]) == 0
    assert len(json.loads(capsys.readouterr().out)["system_desc"]["chip_channels"]) == 1
    assert ttrt.main(["read", path, "--section", "inputs"]) == 1


def test_perf_writes_the_official_sheet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(relu_binary(), folder / "relu.ttnn")
    assert ttrt.main(["perf", path]) == 0
    sheet = next((folder / "ttrt-artifacts/relu.ttnn/perf").glob("*.csv"))
    assert str(sheet) in capsys.readouterr().out
    rows = table(folder / "ttrt-artifacts/relu.ttnn/perf/ops_perf_results.csv")
    (relu,) = [row for row in rows if row["OP CODE"] == "UnaryDeviceOperation"]
    assert float(relu["DEVICE KERNEL DURATION [ns]"]) > 0
    assert results("perf")[0]["predicted_nanoseconds"] >= float(relu["DEVICE KERNEL DURATION [ns]"])


def test_perf_sheet_has_locations(folder: Path) -> None:
    text = """func.func @main(%a: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
      %0 = "ttir.exp"(%a) : (tensor<64x96xbf16>) -> tensor<64x96xbf16> loc("grow")
      %1 = "ttir.tan"(%0) : (tensor<64x96xbf16>) -> tensor<64x96xbf16> loc(unknown)
      return %1 : tensor<64x96xbf16>
    }"""
    module = parse_module(text)
    run(module, "ttir-to-ttnn-backend-pipeline")
    path = store(ttnn_to_binary(module, "0.1.0"), folder / "located.ttnn")
    assert ttrt.main(["perf", path, "--loops", "2", "--ignore-version"]) == 0
    rows = table(folder / "ttrt-artifacts/located.ttnn/perf/ops_perf_results.csv")
    assert [row["LOC"] for row in rows] == ['loc("grow")', ""] * 2


CHISELED = """func.func @main(%a: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  %0 = "ttir.exp"(%a) : (tensor<64x96xbf16>) -> tensor<64x96xbf16> loc("grow")
  %1 = "ttir.exp"(%0) : (tensor<64x96xbf16>) -> tensor<64x96xbf16> loc("again")
  return %1 : tensor<64x96xbf16> loc(unknown)
}"""


def test_chisel_records_each_operation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = parse_module(CHISELED)
    run(module, "ttir-to-ttnn-backend-pipeline")
    path = store(ttnn_to_binary(module, "0.1.0"), folder / "two.ttnn")
    assert ttrt.main(["run", path, "--chisel", "--ignore-version", "--init", "ones"]) == 0
    out = folder / "ttrt-artifacts/two.ttnn/run/chisel.jsonl"
    assert capsys.readouterr().out == f"{out}: 2 ok\n{path}: pass\n"
    first, second = map(json.loads, out.read_text().splitlines())
    assert [(one["location"], one["function"], one["dtype"]) for one in (first, second)] == [
        ('loc("grow")', "ttnn.exp", "BFLOAT16"),
        ('loc("again")', "ttnn.exp", "BFLOAT16"),
    ]
    # bfloat16 next to e is 2.71875: the second error of its own is that of exp(2.71875), accumulated that of exp(e).
    e = float(np.exp(1.0))
    assert first["error"] == first["accumulated_error"] == pytest.approx(2.71875 / e - 1)
    got = float(ml_dtypes.bfloat16(np.exp(2.71875)))
    assert second["error"] == pytest.approx(abs(got / np.exp(2.71875) - 1))
    assert second["accumulated_error"] == pytest.approx(abs(got / np.exp(e) - 1))


def test_chisel_fails_where_a_result_is_far_off(folder: Path) -> None:
    """Exponentials of a softmax without its maximum overflow."""
    text = """func.func @main(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("grow")
      %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> : (tensor<32x32xf32>) -> tensor<32x32xf32> loc("shares")
      return %1 : tensor<32x32xf32>
    }"""
    module = parse_module(text)
    run(module, "ttir-to-ttnn-backend-pipeline")
    path = store(ttnn_to_binary(module, "0.1.0"), folder / "far.ttnn")
    assert ttrt.main(["run", path, "--chisel", "--ignore-version", "--init", "arange"]) == 1
    (result,) = results("run")
    assert result["result"] == "fail"
    assert 'loc("shares"): ttnn.softmax has PCC 0.0 (numerics_fail)' in result["exception"]


def test_translate_keeps_the_text_before_the_pipeline(folder: Path) -> None:
    text = """func.func @main(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
      return %0 : tensor<32x32xf32>
    }"""
    module = parse_module(text)
    run(module, "ttir-to-ttnn-backend-pipeline")
    Path("model.mlir").write_text(text)
    Path("lowered.mlir").write_text(print_module(module))
    tool = [sys.executable, "-c", "import sys; from ttmlir._translate import main; sys.exit(main())"]
    command = [*tool, "--ttnn-to-flatbuffer", "lowered.mlir", "-o", "model.ttnn", "--pre-pipeline", "model.mlir"]
    subprocess.run(command, check=True)
    (program,) = Binary.load("model.ttnn").values["programs"]
    assert program["debug_info"]["mlir_stages"] == [{"name": "PRE-PIPELINE", "source": text}]
    missing = subprocess.run([*command[:-1], "nowhere.mlir"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "nowhere.mlir" in missing.stderr
    wrong = [*tool, "--mlir-to-python", "lowered.mlir", "--pre-pipeline", "model.mlir"]
    assert subprocess.run(wrong, capture_output=True, check=False).returncode == 2


def test_perf_host_only_writes_host_times(folder: Path) -> None:
    both = of_programs(relu_binary().values["programs"] + identity_binary().values["programs"])
    store(both, folder / "many/both.ttnn")
    assert ttrt.main(["perf", "many"]) == 1
    assert ttrt.main(["perf", "many/both.ttnn"]) == 1
    assert "it has 2 programs" in results("perf")[0]["exception"]
    assert ttrt.main(["perf", "many", "--host-only", "--loops", "2"]) == 0
    rows = table(folder / "ttrt-artifacts/both.ttnn/perf/host_times.csv")
    assert len([row for row in rows if row["OP CODE"] == "ttnn.relu"]) == 2
    assert all(int(row["HOST DURATION [ns]"]) > 0 for row in rows)


def test_run_loops_repeat_a_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = store(relu_binary(), folder / "relu.ttnn")
    for command in ("run", "perf"):
        assert ttrt.main([command, binary, "--loops", "0"]) == 1
        assert "--loops is how often each program runs, 1 or more, got 0" in capsys.readouterr().err


def test_api_classes_match_the_command_line(folder: Path) -> None:
    from ttrt.common.api import API
    from ttrt.common.util import Artifacts, Logger

    API.initialize_apis()
    assert API.Run.registered_args["--loops"]["default"] == 1
    assert set(API.registered_apis) == {"Query", "Read", "Run", "Perf", "Check"}
    logger = Logger("some.log")
    artifacts = Artifacts(logger=logger, artifacts_folder_path=str(folder / "mine"))
    arguments = {"binary": store(relu_binary(), folder / "relu.ttnn"), "--save-artifacts": True, "--loops": 2}
    run = API.Run(args=arguments, logger=logger, artifacts=artifacts)
    first, second = run(), run()
    assert first == second
    assert first[0] == 0
    assert (folder / "mine/relu.ttnn/run/program_0/program_0_output_0.pt").exists()
    assert API.Read(args={"binary": arguments["binary"], "section": "version"})()[0] == 0
    assert API.Check(args={"binary": arguments["binary"]})()[0] == 0
    assert API.Query(args={"--quiet": True})()[0] == 0
    with pytest.raises(ArgumentError, match="ttrt run has no argument --loop"):
        API.Run(args={"--loop": 3})
    with pytest.raises(ArgumentError, match="--init is one of arange, ones, randn, zeros, got 'normal'"):
        API.Run(args={"--init": "normal"})


def test_log_file_option_writes_the_log(folder: Path) -> None:
    assert ttrt.main(["run", "nowhere.ttnn", "--log-file", "run.log"]) == 1
    assert "there is no such file" in Path("run.log").read_text()


def test_runtime_module_runs_a_binary(folder: Path) -> None:
    import ttrt.binary
    import ttrt.runtime

    path = store(relu_binary((32, 32)), folder / "relu.ttnn")
    binary = ttrt.binary.load_binary_from_path(path)
    assert (binary.file_identifier, binary.ttmlir_git_hash) == ("TTNN", "0")
    assert ttrt.binary.as_dict(binary) == json.loads(binary.as_json())
    binary.store(str(folder / "copy.ttnn"))
    assert (folder / "copy.ttnn").read_bytes() == Path(path).read_bytes()
    descriptor, devices = ttrt.runtime.get_current_system_desc()
    assert devices == [0]
    assert descriptor.file_identifier == "TTSY"
    ttrt.runtime.set_compatible_runtime(binary)
    assert ttrt.runtime.get_current_runtime() is ttrt.runtime.DeviceRuntime.TTNN
    given, got = np.random.default_rng(0).standard_normal((32, 32)).astype(np.float32), np.zeros((32, 32), np.float32)
    kind = ttrt.runtime.DataType.Float32
    tensors = [ttrt.runtime.create_tensor(a.ctypes.data, [32, 32], [32, 1], 4, kind) for a in (given, got)]
    device = ttrt.runtime.open_device(devices)
    try:
        event = ttrt.runtime.submit(device, binary, 0, tensors[:1], tensors[1:])
        ttrt.runtime.wait(event)
        device.deallocate_buffers()
    finally:
        ttrt.runtime.close_device(device)
    assert np.array_equal(got, np.maximum(given, 0))
    assert ttrt.binary.load_binary_from_capsule(Path(path).read_bytes()).version == binary.version


def test_block_format_caches_are_created_from_bfloat16(folder: Path) -> None:
    import ttrt.binary
    import ttrt.runtime

    cache, new = "tensor<1x2x64x32xbf16>", "tensor<1x2x32x32xbf16>"
    module = parse_module(
        f"""func.func @f(%cache: {cache}, %x: {new}) -> {cache} {{
          "ttir.fill_cache"(%cache, %x) <{{batch_offset = 0 : i32}}> : ({cache}, {new}) -> ()
          return %cache : {cache}
        }}""",
        version="2026-08",
    )
    run(module, "ttir-to-ttnn-backend-pipeline{experimental-kv-cache-dtype=bfp_bf8}")
    store(ttnn_to_binary(module, "0.1.0"), folder / "cache.ttnn")
    binary = ttrt.binary.load_binary_from_path(str(folder / "cache.ttnn"))
    random = np.random.default_rng(3)
    given = random.standard_normal((1, 2, 64, 32)).astype(ml_dtypes.bfloat16)
    filled = random.standard_normal((1, 2, 32, 32)).astype(ml_dtypes.bfloat16)
    got = np.zeros_like(given)
    half = ttrt.runtime.DataType.BFloat16
    tensors = [
        ttrt.runtime.create_tensor(a.ctypes.data, list(a.shape), [s // 2 for s in a.strides], 2, half)
        for a in (given, filled, got)
    ]
    device = ttrt.runtime.open_device(ttrt.runtime.get_current_system_desc()[1])
    try:
        ttrt.runtime.wait(ttrt.runtime.submit(device, binary, 0, tensors[:2], tensors[2:]))
    finally:
        ttrt.runtime.close_device(device)
    expected = np.concatenate([filled, given[:, :, 32:]], axis=2).astype(np.float64)
    # Sixteen numbers of a row share the exponent of the largest, which has seven bits; half of the last is the error.
    blocks = np.abs(expected).reshape(-1, 16).max(-1, keepdims=True)
    allowed = np.broadcast_to(2.0 ** (np.floor(np.log2(blocks)) - 7), (blocks.size, 16)).reshape(expected.shape)
    assert (np.abs(got.astype(np.float64) - expected) <= allowed).all()
    assert not np.array_equal(got.astype(np.float64), expected)
    assert ttrt.main(["run", str(folder / "cache.ttnn")]) == 0


def test_outputs_without_elements_are_written(folder: Path) -> None:
    kind = "tensor<1x2x0xf32>"
    module = parse_module(f"func.func @f(%a: {kind}) -> {kind} {{\n  return %a : {kind}\n}}\n", version="2026-08")
    run(module, "ttir-to-ttnn-backend-pipeline")
    store(ttnn_to_binary(module, "0.1.0"), folder / "empty.ttnn")
    assert ttrt.main(["run", str(folder / "empty.ttnn"), "--identity"]) == 0


def test_run_refuses_reductions_over_chips_other_than_sums(folder: Path) -> None:
    wide, half = "tensor<1x1x32x64xf32>", "tensor<1x1x32x32xf32>"
    shard = (
        "shard_type = #ttcore.shard_type<devices>, shard_shape = array<i64: 1, 1, 1, 2>, shard_dims = array<i64: -1, 3>"
    )
    module = parse_module(
        f"""func.func @f(%a: {wide}) -> {half} {{
          %0 = ttir.empty() : {half}
          %1 = "ttir.reduce_scatter"(%a, %0) <{{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<max>, scatter_dim = 3 : si32}}> : ({wide}, {half}) -> {half}
          %2 = "ttir.mesh_shard"(%1) <{{shard_direction = #ttcore.shard_direction<shard_to_full>, {shard}}}> : ({half}) -> {wide}
          %3 = "ttir.mesh_shard"(%2) <{{shard_direction = #ttcore.shard_direction<full_to_shard>, {shard}}}> : ({wide}) -> {half}
          return %3 : {half}
        }}""",  # noqa: E501
        version="2025-10",
    )
    run(module, "ttir-to-ttnn-backend-pipeline")
    binary = ttnn_to_binary(module, "0.1.0")
    steps = {one["type_type"]: one["type"] for one in binary.values["programs"][0]["operations"]}
    assert steps["ReduceScatterOp"]["reduce_type"] == 2
    assert steps["MeshShardOp"]["shard_direction"] == "FullToShardShape"
    assert ttrt.main(["run", store(binary, folder / "chips.ttnn")]) == 1
    assert "ttnn.reduce_scatter adds; reduction 2 is not executed" in results("run")[0]["exception"]


def test_run_of_damaged_operations_prints_one_error(folder: Path) -> None:
    unknown = relu_binary()
    out = unknown.values["programs"][0]["outputs"][0]
    unknown.values["programs"][0]["operations"] = [operation("MatmulOp", {"in0": out, "in1": out})]
    assert ttrt.main(["run", store(unknown, folder / "x.ttnn")]) == 1
    assert "program main, operation 0 (MatmulOp): the operation is damaged" in results("run")[0]["exception"]


def function(text: str, arguments: str, result: str) -> str:
    return f"func.func @f({arguments}) -> {result} {{\n{text}}}\n"


ROWS = "tensor<10x32xbf16>"
INDEXED = {
    "embedding": function(
        f'  %0 = "ttir.embedding"(%i, %t) : (tensor<1x64xi32>, {ROWS}) -> tensor<1x64x32xbf16>\n'
        "  return %0 : tensor<1x64x32xbf16>\n",
        f"%i: tensor<1x64xi32>, %t: {ROWS}",
        "tensor<1x64x32xbf16>",
    ),
    "embedding of floating point numbers": function(
        f'  %0 = "ttir.embedding"(%i, %t) : (tensor<1x64xbf16>, {ROWS}) -> tensor<1x64x32xbf16>\n'
        "  return %0 : tensor<1x64x32xbf16>\n",
        f"%i: tensor<1x64xbf16>, %t: {ROWS}",
        "tensor<1x64x32xbf16>",
    ),
    "embedding of permuted indices": function(
        '  %0 = "ttir.permute"(%i) <{permutation = array<i64: 1, 0>}> : (tensor<32x2xi32>) -> tensor<2x32xi32>\n'
        f'  %1 = "ttir.embedding"(%0, %t) : (tensor<2x32xi32>, {ROWS}) -> tensor<2x32x32xbf16>\n'
        "  return %1 : tensor<2x32x32xbf16>\n",
        f"%i: tensor<32x2xi32>, %t: {ROWS}",
        "tensor<2x32x32xbf16>",
    ),
    "embedding of constants": function(
        f'  %0 = "ttir.embedding"(%i, %t) : (tensor<1x64xi32>, {ROWS}) -> tensor<1x64x32xbf16>\n'
        '  %1 = "ttir.add"(%0, %x) : (tensor<1x64x32xbf16>, tensor<1x64x32xbf16>) -> tensor<1x64x32xbf16>\n'
        "  return %1 : tensor<1x64x32xbf16>\n",
        "%i: tensor<1x64xi32> {ttcore.argument_type = #ttcore.argument_type<constant>}, "
        f"%t: {ROWS} {{ttcore.argument_type = #ttcore.argument_type<parameter>}}, %x: tensor<1x64x32xbf16>",
        "tensor<1x64x32xbf16>",
    ),
    "gather": function(
        '  %0 = "ttir.gather"(%t, %i) <{dim = 0 : i32}> : (tensor<10x32xf32>, tensor<64x32xi32>) -> tensor<64x32xf32>\n'
        "  return %0 : tensor<64x32xf32>\n",
        "%i: tensor<64x32xi32>, %t: tensor<10x32xf32>",
        "tensor<64x32xf32>",
    ),
    "update_cache": function(
        '  "ttir.update_cache"(%c, %x, %i) <{batch_offset = 0 : i32}> : '
        "(tensor<1x4x64x32xbf16>, tensor<1x4x1x32xbf16>, tensor<1xi32>) -> ()\n"
        "  return %c : tensor<1x4x64x32xbf16>\n",
        "%i: tensor<1xi32>, %c: tensor<1x4x64x32xbf16>, %x: tensor<1x4x1x32xbf16>",
        "tensor<1x4x64x32xbf16>",
    ),
}


def lowered_binary(text: str, folder: Path, options: str = "") -> str:
    module = parse_module(text, version="2026-08")
    run(module, "ttir-to-ttnn-backend-pipeline" + options)
    return store(ttnn_to_binary(module, "0.1.0"), folder / "a.ttnn")


@pytest.mark.parametrize("name", INDEXED)
def test_run_index_inputs_are_valid_rows(name: str, folder: Path) -> None:
    from ttrt.common.api import API

    path = lowered_binary(INDEXED[name], folder)
    for init in ("randn", "arange"):
        made = API.Run({"binary": path, "--init": init})
        assert made()[0] == 0, made.results.get_results()
        indices = made.binaries[0].get_program(made.indices(made.binaries[0])[0]).input_tensors[0].long()
        limit = 64 if name == "update_cache" else 10
        assert int(indices.min()) >= 0
        assert int(indices.max()) < limit
        assert indices.numel() == 1 or len(indices.unique()) == limit
    assert ttrt.main(["perf", path]) == 0
    assert results("perf")[0]["result"] == "pass"


@pytest.mark.parametrize("options", ["", "{enable-trace=true}"])
def test_perf_runs_programs_with_functions_of_their_own(options: str, folder: Path) -> None:
    path = lowered_binary(INDEXED["embedding of constants"], folder, options)
    binary = Binary.load(path)
    assert len(binary.values["programs"]) > 1
    for arguments in ([], ["--init", "zeros"], ["--host-only"]):
        assert ttrt.main(["perf", path, *arguments]) == 0, results("perf")
    # A number may also name a function that the others call; `run` has the same rule.
    for command in ("perf", "run"):
        for number, program in enumerate(binary.values["programs"]):
            fails = program["name"].startswith(("run_and_capture_", "execute_"))
            assert ttrt.main([command, path, "--program-index", str(number)]) == fails, results(command)
            assert ("is a step of another program's trace" in results(command)[0]["exception"]) == fails
        assert ttrt.main([command, path, "--program-index", "7"]) == 1
        assert "there is no program 7" in results(command)[0]["exception"]


def test_perf_has_the_initial_values_of_run(folder: Path) -> None:
    from ttrt.common.api import API

    path = store(relu_binary(), folder / "a.ttnn")
    for init in API.Run.TorchInitializer.get_init_fns():
        assert ttrt.main(["perf", path, "--init", init]) == 0
    with pytest.raises(SystemExit):
        ttrt.main(["perf", path, "--init", "twos"])


def test_perf_requires_a_program_index_for_several_programs(folder: Path) -> None:
    program = relu_binary().values["programs"][0]
    path = store(of_programs([program, program]), folder / "a.ttnn")
    assert ttrt.main(["perf", path]) == 1
    assert "it has 2 programs" in results("perf")[0]["exception"]


@pytest.mark.parametrize("shape", [(-1, 32), (1 << 20, 1 << 20)])
def test_impossible_tensor_sizes_print_one_error(shape: tuple[int, int], folder: Path) -> None:
    binary = relu_binary()
    tensor = binary.values["programs"][0]["inputs"][0]
    tensor["desc"]["shape"] = list(shape)
    path = store(binary, folder / "a.ttnn")
    for command in ("run", "perf"):
        assert ttrt.main([command, path]) == 1
        assert "elements are made" in results(command)[0]["exception"]


MESH = """func.func @main(%arg0: tensor<64x128xf32>) -> tensor<64x64xf32> {
  %0 = "ttir.mesh_shard"(%arg0) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<64x128xf32>) -> tensor<64x64xf32>
  %1 = "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("system", "chips", "links", "grid", "hosts", "mesh"),
    [("n300", 2, 2, (8, 8), 1, (2, 1)), ("t3k", 8, 20, (8, 8), 4, (2, 4)), ("galaxy", 32, 208, (9, 8), 32, (8, 4))],
)
def test_query_describes_the_chosen_system(
    system: str, chips: int, links: int, grid: tuple[int, int], hosts: int, mesh: tuple[int, int], folder: Path
) -> None:
    with ttnn.manage_config("system", system):
        assert ttrt.main(["query", "--save-artifacts", "--quiet"]) == 0
    found = system_desc.load(folder / "ttrt-artifacts/system_desc.ttsys")
    assert (len(found.chip_indices), len(found.channels), found.chips[0].grid) == (chips, links, grid)
    assert sum("host_mmio" in words for words in found.capabilities) == hosts
    # Every place of the mesh has one chip.
    assert sorted(coord[2:] for coord in found.coords) == [(y, x) for y in range(mesh[0]) for x in range(mesh[1])]
    first = found.channels[0]
    if system != "galaxy":
        other = {"n300": (1, 0), "t3k": (2, 6)}[system]
        assert (first.device_id0, first.device_id1, first.core1) == (0, other[0], (other[1], 0))


@pytest.mark.parametrize("language", ["2024-09", "2025-10", "2026-08"])
def test_descriptor_of_a_mesh_is_read_as_written(language: Any) -> None:
    with ttnn.manage_config("system", "t3k"):
        system = current_system()
    read = Binary.parse(system_desc.make_binary(system, ttnn.__version__, language).to_bytes())
    assert system_desc.from_table(read.values["system_desc"]).channels == system.channels


def test_run_opens_the_mesh_of_the_binary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ttnn.manage_config("system", "n300"):
        assert ttrt.main(["query", "--save-artifacts", "--quiet"]) == 0
        module = parse_module(MESH, "mesh.mlir")
        path = folder / "ttrt-artifacts/system_desc.ttsys"
        run(module, f"ttir-to-ttnn-backend-pipeline{{mesh-shape=1,2 system-desc-path={path}}}")
        stored = store(ttnn_to_binary(module, ttnn.__version__), folder / "mesh.ttnn")
        assert ttrt.main(["run", stored, "--save-artifacts", "--init", "ones"]) == 0
        made = torch.load(folder / "ttrt-artifacts/mesh.ttnn/run/program_0/program_0_output_0.pt")
        assert torch.equal(made, torch.full((64, 64), 2.0))
        assert ttrt.main(["perf", stored]) == 0
        rows = table(folder / "ttrt-artifacts/mesh.ttnn/perf/ops_perf_results.csv")
        assert {row["DEVICE ID"] for row in rows if "AllReduce" in row["OP CODE"] or "ReduceScatter" in row["OP CODE"]}
        # Without a fabric chips exchange nothing, and the fabric of other programs stays as it was.
        assert ttrt.main(["run", stored, "--fabric-config", "disabled"]) == 1
        assert "fabric" in results("run")[0]["exception"]
        assert ttnn.get_fabric_config() == ttnn.FabricConfig.DISABLED
    capsys.readouterr()
    assert ttrt.main(["run", stored]) == 1
    assert "number of chips: 2 and 1" in results("run")[0]["exception"]

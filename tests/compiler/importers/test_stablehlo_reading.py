"""Forms of StableHLO programs, refusals, and the two pipelines of `ttmlir-opt`."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.importers.sharding import axis_of, gspmd, mesh_of_gspmd, shardy
from ttnn.compiler.importers.stablehlo import read, reader, to_ttir
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.tools import opt
from ttnn.compiler.versions import print_module

SHORT = """module @program {
  func.func public @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = func.call @inner(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func private @inner(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
"""
GENERIC = """func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.exponential"(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""


def imported(source: Any, **options: bool) -> str:
    module = read(source)
    to_ttir(module, **options)
    return print_module(module)


def forms() -> dict[str, Any]:
    library = reader.Library()
    module = library.parse(SHORT)
    code = io.BytesIO()
    module.operation.write_bytecode(file=code)
    artifact = library.stablehlo.serialize_portable_artifact_str(SHORT, library.stablehlo.get_current_version())
    return {"text": SHORT, "module": module, "bytecode": code.getvalue(), "artifact": artifact}


def test_all_forms_are_the_same_program() -> None:
    texts = {name: imported(source) for name, source in forms().items()}
    assert set(texts.values()) == {texts["text"]}
    assert '"ttir.exp"(%arg0)' in texts["text"]
    assert "inner" not in texts["text"]


def test_generic_text_needs_no_jaxlib(monkeypatch: pytest.MonkeyPatch) -> None:
    with_library = imported(GENERIC)
    monkeypatch.setattr(reader, "has_jaxlib", lambda: False)
    monkeypatch.setattr(reader, "Library", None)
    assert imported(GENERIC) == with_library
    with pytest.raises(UnsupportedError, match=r'short syntax; pip install "ttnn-rs\[jax\]"'):
        read(SHORT)
    with pytest.raises(UnsupportedError, match=r'is MLIR bytecode; pip install "ttnn-rs\[jax\]"'):
        read(b"ML\xefR....")


def test_damaged_bytes_are_refused() -> None:
    artifact = forms()["artifact"]
    for damaged in (artifact[:40], artifact[:-10], b"ML\xefR" + b"\0" * 64, b"\xff\xfe"):
        with pytest.raises(FileFormatError):
            read(damaged)


def test_wrong_text_names_its_place() -> None:
    with pytest.raises(CompileError) as raised:
        read(SHORT.replace("stablehlo.exponential %arg0", "stablehlo.exponential %arg9"), "program.mlir")
    assert str(raised.value.diagnostics[0]).startswith("program.mlir:7:32: error: use of undeclared SSA value")
    with pytest.raises(CompileError, match="nested too deeply"):
        read("(" * 100)


PAIRS = "tensor<4x8xcomplex<f32>>"
REFUSED = f"""func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4xi32>) -> ({PAIRS}, tensor<4xi32>) {{
  %0 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> {PAIRS} loc("a")
  %1 = stablehlo.fft %0, type = FFT, length = [8] : ({PAIRS}) -> {PAIRS} loc("jit(f)/fft")
  %2 = stablehlo.fft %1, type = FFT, length = [8] : ({PAIRS}) -> {PAIRS} loc("jit(f)/fft")
  %3 = stablehlo.custom_call @foo(%arg1) : (tensor<4xi32>) -> tensor<4xi32> loc("call")
  %4 = stablehlo.popcnt %3 : tensor<4xi32> loc("bits")
  return %2, %4 : {PAIRS}, tensor<4xi32>
}}
"""


def test_everything_unsupported_is_reported_together() -> None:
    with pytest.raises(UnsupportedError) as raised:
        imported(REFUSED)
    message = str(raised.value)
    assert "4 operations that cannot be imported" in message
    assert 'stablehlo.fft at "jit(f)/fft" has no TTIR operation (2 times)' in message
    assert 'custom_call target "foo" is unknown' in message
    assert 'stablehlo.popcnt at "bits"' in message


DYNAMIC = "func.func @main(%a: tensor<?x4xf32>) -> tensor<?x4xf32> { return %a : tensor<?x4xf32> }"
INTEGER_PRODUCT = """func.func @main(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<i32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xi32>, tensor<4xi32>) -> tensor<i32>
  return %0 : tensor<i32>
}"""
LOOP = """func.func @main(%a: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %a) : tensor<i32> cond {
    %c = stablehlo.constant dense<9> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}"""
OTHER_BODY = """func.func @main(%a: tensor<4xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%a, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.subtract %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DYNAMIC, "dynamic shape"),
        (INTEGER_PRODUCT, "of integers has no TTIR operation"),
        (LOOP, "with a number of rounds that is no constant"),
        (OTHER_BODY, "with this body has no TTIR operation"),
    ],
)
def test_refusals_say_why(text: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        imported(text)


def test_functions_that_call_each_other_are_refused() -> None:
    call = "func.call @inner(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>"
    text = SHORT.replace("stablehlo.exponential %arg0 : tensor<4x8xf32>", call)
    with pytest.raises(UnsupportedError, match="nest more than 64 deep"):
        imported(text)


def test_widened_comparisons_decide_in_the_narrow_type() -> None:
    text = (
        "func.func @main(%a: tensor<8xbf16>) -> (tensor<8xi1>, tensor<8xi1>) {\n"
        "%c = stablehlo.constant dense<0.99> : tensor<8xf64>\n"
        "%0 = stablehlo.convert %a : (tensor<8xbf16>) -> tensor<8xf64>\n"
        "%1 = stablehlo.compare LT, %0, %c : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>\n"
        "%2 = stablehlo.compare LE, %0, %c : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xi1>\n"
        "return %1, %2 : tensor<8xi1>, tensor<8xi1> }"
    )
    found = imported(text)
    # 0.98828125 < 0.99 < 0.9921875 are the bfloat16 numbers around it.
    assert "dense<9.921870e-01> : tensor<8xbf16>" in found
    assert "dense<9.882810e-01> : tensor<8xbf16>" in found
    assert "f64" not in found


def test_composites_become_operations_or_their_decomposition() -> None:
    text = """module {
  func.func public @main(%a: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.composite "tenstorrent.gelu" %a {decomposition = @plain} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.composite "chlo.erf" %a {decomposition = @plain} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.composite "some.other" %a {decomposition = @plain} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func private @plain(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.cosine %a : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}"""
    found = imported(text)
    assert [name in found for name in ('"ttir.gelu"', '"ttir.erf"', '"ttir.cos"')] == [True] * 3
    assert found.count('"ttir.') == 3


SHARDED = """module @sharded attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
    %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%p: tensor<32x8xf32>, %q: tensor<8x16xf32>) {
      %1 = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<32x8xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %3 = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      sdy.return %2 : tensor<32x16xf32>
    } : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
    return %0 : tensor<64x16xf32>
  }
}
"""  # noqa: E501


def test_manual_computations_become_shards_and_collectives() -> None:
    found = imported(SHARDED)
    assert "shard_dims = array<i64: 0, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>" in found
    assert "cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>" in found
    assert "shard_dims = array<i64: 0, -1>, shard_direction = #ttcore.shard_direction<shard_to_full>" in found
    assert 'ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>' in found


def test_shardings_that_need_propagation_are_refused() -> None:
    text = """module @sharded attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=1, "y"=8]>
  func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x32xf32> {
    %0 = stablehlo.tanh %a : tensor<64x32xf32>
    return %0 : tensor<64x32xf32>
  }
}"""
    with pytest.raises(UnsupportedError, match="argument 0 of @main has a sharding that needs propagation"):
        imported(text)
    assert "ttir.tanh" in imported(text.replace('{"y"}', "{}"))


def test_placements_of_gspmd() -> None:
    two, eight = (1, 2), (2, 4)
    assert gspmd("{replicated}", two).kind == "replicate"
    assert gspmd("{manual}", two) is None
    assert gspmd("{devices=[1,2]<=[2]}", two).dims == (-1, 1)
    assert gspmd("{devices=[2,1]<=[2]}", two).dims == (-1, 0)
    assert gspmd("{devices=[2,4]<=[8]}", eight).dims == (0, 1)
    assert gspmd("{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}", eight).dims == (-1, 0)
    assert gspmd("{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}", eight).dims == (-1, 0)
    assert gspmd("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", eight).dims == (0, -1)
    with pytest.raises(ValueError, match="no order of a mesh"):
        gspmd("{devices=[2,2]0,3,1,2}", (2, 2))
    with pytest.raises(ValueError, match="not on a mesh of 2x4"):
        gspmd("{devices=[2,1]<=[2]}", eight)
    assert mesh_of_gspmd(["{replicated}", "{devices=[4,2]<=[2,4]T(1,0)}"], 8) == eight
    assert mesh_of_gspmd(["{devices=[8,1]<=[8]}"], 8) == (1, 8)


def test_placements_of_shardy_and_axes_of_groups() -> None:
    (first, second) = shardy('[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{}, {}]>]', {"x": 2, "y": 4})
    assert (first.shape, first.dims, second.kind) == ((2, 4), (0, 1), "replicate")
    assert axis_of([[0, 1, 2, 3], [4, 5, 6, 7]], (2, 4)) == (1,)
    assert axis_of([[0, 4], [1, 5], [2, 6], [3, 7]], (2, 4)) == (0,)
    assert axis_of([[0, 1, 2, 3, 4, 5, 6, 7]], (2, 4)) == (0, 1)
    assert axis_of([[0, 5], [1, 4]], (2, 4)) is None


def test_opt_reads_text_and_bytecode(tmp_path: Path) -> None:
    source, code = tmp_path / "a.mlir", tmp_path / "a.mlirbc"
    source.write_text(SHORT)
    code.write_bytes(forms()["bytecode"])
    outputs = []
    for file in (source, code):
        output = tmp_path / f"{file.name}.out"
        assert opt.main(["--stablehlo-pipeline", "--stablehlo-to-ttir-pipeline", str(file), "-o", str(output)]) == 0
        outputs.append(output.read_text())
    assert outputs[0] == outputs[1]
    assert "ttcore.device_module" in outputs[0]
    lowered = tmp_path / "lowered.mlir"
    steps = ["--stablehlo-to-ttir-pipeline", "--ttir-to-ttnn-backend-pipeline"]
    assert opt.main([*steps, str(source), "-o", str(lowered)]) == 0
    assert '"ttnn.exp"' in lowered.read_text()


def test_opt_reports_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "refused.mlir"
    source.write_text(REFUSED)
    assert opt.main(["--stablehlo-to-ttir-pipeline", str(source), "-o", str(tmp_path / "out")]) == 1
    assert 'custom_call target "foo" is unknown' in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_import_of_the_package_imports_no_framework() -> None:
    script = (
        "import sys, ttnn, ttnn.compiler.tools.opt, ttnn.compiler.pipelines, ttnn.compiler.importers.stablehlo\n"
        "print([name for name in ('jax', 'jaxlib', 'torch', 'onnx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_programs_that_grow_beyond_bounds_are_refused_before_they_are_written_out() -> None:
    kind = "tensor<4xf32>"
    functions = [f"func.func private @f40(%a: {kind}) -> {kind} {{ return %a : {kind} }}"]
    for i in range(40):
        call = f"func.call @f{i + 1}"
        functions.append(
            f"func.func private @f{i}(%a: {kind}) -> {kind} {{ %0 = {call}(%a) : ({kind}) -> {kind}\n"
            f"%1 = {call}(%0) : ({kind}) -> {kind}\nreturn %1 : {kind} }}"
        )
    main = (
        f"func.func @main(%a: {kind}) -> {kind} {{ %0 = func.call @f0(%a) : ({kind}) -> {kind}\nreturn %0 : {kind} }}"
    )
    module = read("\n".join([main, *functions]))
    with pytest.raises(UnsupportedError, match="more than 2,000,000 operations with its calls written out"):
        to_ttir(module)

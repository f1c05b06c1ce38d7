"""Later binaries from text: schema fields, families, function calls."""

from __future__ import annotations

from typing import Any

import pytest

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.flatbuffer.schema import Schema
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module


def binary(body: str) -> Binary:
    module = parse_module(body)
    run(module, "ttir-to-ttnn-backend-pipeline")
    return Binary.parse(ttnn_to_binary(module, "1.2.3").to_bytes())


def operations(body: str, kind: str) -> list[dict[str, Any]]:
    tables = binary(body).values["programs"]
    return [op["type"] for program in tables for op in program["operations"] if op["type_type"] == kind]


ADD = """func.func @main(%a: tensor<64x96xbf16>, %b: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  %0 = "ttir.add"(%a, %b) : (tensor<64x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
  return %0 : tensor<64x96xbf16>
}
"""


def test_binary_root_has_schema_hash_and_mlir_text() -> None:
    made = binary(ADD)
    assert (made.identifier, made.language, made.version) == ("TTNN", "2026-08", "1.2.3")
    assert made.values["schema_hash"] == Schema.load("2026-08").digest
    assert '"ttnn.add"' in made.values["mlir"]["source"]
    (program,) = made.values["programs"]
    assert (program["name"], program["private"]) == ("main", False)
    assert program["inputs"][0]["desc"]["shape"] == [64, 96]
    assert program["inputs"][0]["desc"]["layout"]["memory_desc"]["data_type"] == "BFloat16"


@pytest.mark.parametrize("version", ["2025-10", "2026-08"])
def test_locations_and_stages_are_written(version: Version) -> None:
    text = ADD.replace("tensor<64x96xbf16>\n  return", 'tensor<64x96xbf16> loc("sum"("model.py":3:4))\n  return')
    module = parse_module(text, default_version="2026-08")
    module.version = version
    run(module, "ttir-to-ttnn-backend-pipeline")
    made = Binary.parse(ttnn_to_binary(module, "1.2.3", {"PRE-PIPELINE": text}).to_bytes())
    (program,) = made.values["programs"]
    assert [one["loc_info"] for one in program["operations"] if one["type_type"].startswith("Eltwise")] == [
        'loc("sum"("model.py":3:4))'
    ]
    assert program["debug_info"]["mlir_stages"] == [{"name": "PRE-PIPELINE", "source": text}]
    assert {one for found in programs(made) for one in found.locations} == {'loc("sum"("model.py":3:4))'}


def test_unknown_locations_and_stages_are_left_out() -> None:
    text = ADD.replace("tensor<64x96xbf16>\n  return", "tensor<64x96xbf16> loc(unknown)\n  return")
    (program,) = binary(text).values["programs"]
    assert not any("loc_info" in one for one in program["operations"])
    assert "debug_info" not in program


def test_families_of_operations_have_their_member_fields() -> None:
    (add,) = operations(ADD, "EltwiseBinaryOp")
    assert add["type"] == "Add"
    assert add["lhs"]["global_id"] != add["rhs"]["global_id"]
    (greater,) = operations(ADD.replace("ttir.add", "ttir.gt"), "EltwiseBinaryOp")
    assert greater["type"] == "GreaterThan"
    (least,) = operations(ADD.replace("ttir.add", "ttir.minimum"), "EltwiseBinaryCompositeOp")
    assert least["type"] == "Minimum"


def test_table_names_have_the_case_of_the_schema() -> None:
    """Its name in the text has none.

    An abbreviation of several letters is written in capitals.
    """
    wide, row = "tensor<1x1x32x128xbf16>", "tensor<128xbf16>"
    properties = "cluster_axis = 1 : ui32, epsilon = 0.5 : f32, operandSegmentSizes = array<i32: 1, 1, 0>"
    text = f"""func.func @main(%a: {wide}, %w: {row}) -> {wide} {{
  %0 = "ttir.distributed_rms_norm"(%a, %w) <{{{properties}}}> : ({wide}, {row}) -> {wide}
  return %0 : {wide}
}}
"""
    (norm,) = operations(text, "DistributedRMSNormOp")
    assert (norm["cluster_axis"], norm["epsilon"]) == (1, 0.5)
    assert norm["weight"]["desc"]["shape"] == [128]


def test_attributes_are_stored_in_schema_fields() -> None:
    text = """func.func @main(%a: tensor<2x64x96xbf16>) -> tensor<2x32x96xbf16> {
  %0 = "ttir.slice_static"(%a) <{begins = [0: i32, 32: i32, 0: i32], ends = [2: i32, 64: i32, 96: i32], step = [1: i32, 1: i32, 1: i32]}> : (tensor<2x64x96xbf16>) -> tensor<2x32x96xbf16>
  return %0 : tensor<2x32x96xbf16>
}
"""  # noqa: E501
    (cut,) = operations(text, "SliceOp")
    assert (cut["type"], cut["step"]) == ("SliceStaticOp", [1, 1, 1])
    assert cut["params"] == {"begins": [0, 32, 0], "ends": [2, 64, 96]}


def test_long_slices_with_a_negative_step_are_refused() -> None:
    """A few bytes of a file would become a call for each element."""
    long, short = "tensor<1073741824xbf16>", "tensor<16385xbf16>"
    text = f"""func.func @main(%a: {long}) -> {short} {{
  %0 = "ttir.slice_static"(%a) <{{begins = [32770: i32], ends = [0: i32], step = [-2: i32]}}> : ({long}) -> {short}
  return %0 : {short}
}}
"""
    with pytest.raises(UnsupportedError, match="a slice with step -2 of 16385 elements in dimension 0 is not executed"):
        programs(binary(text))


def test_data_type_without_schema_value_is_named() -> None:
    layout = (
        "#dram = #ttnn.buffer_type<dram>\n#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
        "memref<1x1x!ttcore.tile<32x32, f64>, #dram>, <interleaved>>\n"
    )
    kind = "tensor<32x32xf32, #layout>"
    text = f"{layout}func.func @f(%a: {kind}) -> {kind} {{ return %a : {kind} }}"
    with pytest.raises(CompileError, match="data type f64 has no form in TTNN binaries"):
        ttnn_to_binary(parse_module(text), "1.2.3")


def test_kernels_in_other_languages_are_refused() -> None:
    layout = (
        "#dram = #ttnn.buffer_type<dram>\n#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
        "memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>\n"
    )
    kind = "tensor<32x32xbf16, #layout>"
    names = 'arg_roles = "in,out", kernel_id = "a", version_tag = "1"'
    text = (
        f'{layout}func.func @f(%a: {kind}, %b: {kind}) -> {kind} {{\n  %0 = "ttnn.tt_lang_op"(%a, %b) <{{{names}}}> : '
        f"({kind}, {kind}) -> {kind}\n  return %0 : {kind}\n}}\n"
    )
    with pytest.raises(CompileError, match="cannot be lowered without the compiler of tt-lang"):
        ttnn_to_binary(parse_module(text), "1.2.3")


def test_operation_without_schema_table_is_named() -> None:
    with pytest.raises(CompileError, match=r"'ttir\.add' op has no form in a TTNN binary|without layout"):
        ttnn_to_binary(parse_module(ADD), "1.2.3")


def test_operand_that_is_not_a_tensor_is_named() -> None:
    with pytest.raises(CompileError, match="a value of type i32 has no form in TTNN binaries"):
        ttnn_to_binary(parse_module("func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n"), "1.2.3")


def test_multi_chip_expert_operations_are_written_but_not_executed() -> None:
    rows, places = "tensor<4x32x1x64xbf16>", "tensor<1x32x1x4xi32>"
    sizes = {"hidden_size": 64, "batch_size": 32, "seq_size": 1, "select_experts_k": 4, "experts": 8}
    properties = ", ".join(f"{name} = {size} : ui32" for name, size in sizes.items())
    types = f"({rows}, {rows}, {places}, {places}) -> {rows}"
    text = f"""func.func @main(%a: {rows}, %b: {rows}, %c: {places}, %d: {places}) -> {rows} {{
  %0 = "ttir.selective_reduce_combine"(%a, %b, %c, %d) <{{{properties}}}> : {types}
  return %0 : {rows}
}}
"""
    made = binary(text)
    assert [op["type"]["experts"] for op in made.values["programs"][0]["operations"] if "experts" in op["type"]] == [8]
    with pytest.raises(UnsupportedError, match="this operation is not executed: TT-NN has no public operator for it"):
        programs(made)

"""Graphs of modules, the folder of the explorer, and settings of runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ttnn.base.exceptions import FileAccessError, FileFormatError, ParameterError
from ttnn.compiler.explorer import models
from ttnn.compiler.explorer.conversion import graph_paths, graphs_of_folder
from ttnn.compiler.explorer.folder import ARTIFACTS, artifact_folder, model_path
from ttnn.compiler.explorer.graph import EditableValue, build
from ttnn.compiler.explorer.options import DISABLED, ENABLED, parse_lines, parse_settings
from ttnn.compiler.pipelines import run
from ttnn.compiler.tools.translate import ttnn_bytes


def test_graph_has_a_node_for_each_operation(top: Path) -> None:
    made = build(models.load(top / "small.mlir"), "small").graph
    labels = [node.label for node in made.nodes]
    assert labels == ["%x", "%w", "ttir.matmul", "%b", "ttir.add", "ttir.softmax", "func.return"]
    total = made.nodes[4]
    assert total.id == 'loc("sum")__0'
    assert [(edge.sourceNodeId, edge.targetNodeInputId) for edge in total.incomingEdges] == [
        ('loc("product")__0', "0"),
        ("input_2", "1"),
    ]
    facts = {one.key: one.value for one in total.attrs}
    assert facts == {
        "named_location": "sum",
        "full_location": 'loc("sum")',
        "shape": "[32, 32]",
        "dtype": "f32",
        "rank": "2",
        "schedule": "1",
    }
    softmax = {one.key: one.value for one in made.nodes[5].attrs}
    assert softmax["dimension"] == "1 : si32"
    assert made.groupNodeAttributes[""]["sym_name"] == '"small"'


def test_layouts_of_lowered_nodes_are_editable(top: Path) -> None:
    module = models.load(top / "small.mlir")
    run(module, "ttir-to-ttnn-backend-pipeline")
    made = build(module, "small")
    (softmax,) = (node for node in made.graph.nodes if node.label == "ttnn.softmax")
    facts = {one.key: one for one in softmax.attrs}
    assert {name: facts[name].value for name in ("buffer_type", "tensor_memory_layout", "grid_shape")} == {
        "buffer_type": "dram",
        "tensor_memory_layout": "interleaved",
        "grid_shape": "1x1",
    }
    editable = facts["buffer_type"]
    assert isinstance(editable, EditableValue)
    assert "l1" in editable.editable["options"]
    assert "ttnn.deallocate" not in {node.label for node in made.graph.nodes}
    assert all(made.nodes[key].label.startswith("ttnn.") for key in made.nodes)


def test_equal_locations_have_ids_of_their_own(top: Path) -> None:
    text = (top / "small.mlir").read_text().replace('loc("sum")', 'loc("product")')
    made = build(models.module_of(text, "same"), "same").graph
    assert [node.id for node in made.nodes if node.id.startswith("loc(")][:2] == [
        'loc("product")__0',
        'loc("product")__1',
    ]


def test_binaries_are_shown_as_before_their_pipeline(top: Path) -> None:
    source = (top / "small.mlir").read_text()
    module = models.load(top / "small.mlir")
    run(module, "ttir-to-ttnn-backend-pipeline")
    (top / "with.ttnn").write_bytes(ttnn_bytes(module, source))
    (top / "without.ttnn").write_bytes(ttnn_bytes(module))
    assert models.text_of(top / "with.ttnn") == source
    assert models.has_ttnn(models.load(top / "without.ttnn"))
    (top / "damaged.ttnn").write_bytes(b"TTNN" * 20)
    with pytest.raises(FileFormatError, match=r"damaged\.ttnn"):
        models.load(top / "damaged.ttnn")


def test_a_folder_is_a_collection_of_graphs(top: Path) -> None:
    (top / "more.mlir").mkdir()
    (top / "more.mlir/second.ttir").write_text((top / "small.mlir").read_text())
    (top / ARTIFACTS).mkdir()
    (top / ARTIFACTS / "old.mlir").write_text("not shown")
    (top / "link.mlir").symlink_to("/etc/passwd")
    found = graphs_of_folder(top)
    assert [one.id for one in found.graphs] == ["small.mlir", "second.ttir"]
    assert graph_paths(top / "nowhere").graphPaths == []


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.mlir", "link.mlir", "x/../../outside.mlir", "a\0b"])
def test_paths_outside_of_the_folder_are_refused(top: Path, path: str) -> None:
    (top.parent / "outside.mlir").write_text("module {}")
    (top / "link.mlir").symlink_to(top.parent / "outside.mlir")
    with pytest.raises(FileAccessError, match="is not below"):
        model_path(path)


def test_missing_files_are_named(top: Path) -> None:
    with pytest.raises(FileAccessError, match=r"no file or folder nowhere.mlir"):
        model_path("nowhere.mlir")
    assert model_path("small.mlir") == (top / "small.mlir").resolve()


def test_artifacts_follow_content_and_options(top: Path) -> None:
    model = top / "small.mlir"
    first = artifact_folder(model, "a")
    assert first.parent == (top / ARTIFACTS).resolve()
    assert first.name.startswith("small.mlir-")
    assert artifact_folder(model, "b") != first == artifact_folder(model, "a")
    model.write_text(model.read_text() + "\n")
    assert artifact_folder(model, "a") != first


def test_artifacts_do_not_follow_a_link_out_of_the_folder(top: Path) -> None:
    (top.parent / "elsewhere").mkdir()
    (top / ARTIFACTS).symlink_to(top.parent / "elsewhere")
    with pytest.raises(FileAccessError, match="Remove the link"):
        artifact_folder(top / "small.mlir", "")
    assert not list((top.parent / "elsewhere").iterdir())


def test_settings_become_options_of_the_pipeline() -> None:
    attributes = [
        {"key": "data_type", "value": "f32"},
        {"key": "grid_shape", "value": "[8x8]"},
        {"key": "buffer_type", "value": "l1"},
        {"key": "act_block_h_override", "value": "[32]"},
        {"key": "activation", "value": "None"},
    ]
    overrides = {'loc("relu_3")': {"named_location": "relu_3", "attributes": attributes}}
    settings = parse_settings({"optimizationPolicy": ENABLED, "overrides": overrides, "generateCppCode": True})
    assert settings.pipeline_options == (
        "enable-optimizer=true override-output-layout=relu_3=8x8:l1:f32 "
        "override-conv2d-config=relu_3=act_block_h_override#32"
    )
    assert settings.cpp
    off = parse_settings({"optimizationPolicy": DISABLED, "overrides": overrides})
    assert off.pipeline_options == "enable-optimizer=false"


def test_lines_become_options_of_the_pipeline() -> None:
    lines = "override-output-layout=a=8x8:l1\n\noverride-output-layout=b=1x8\ninsert-memreconfig=c=0:1\n"
    assert parse_lines(ENABLED, lines).pipeline_options == (
        "enable-optimizer=true override-output-layout=a=8x8:l1,b=1x8 insert-memreconfig=c=0:1"
    )


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({}, "unknown optimization policy 'None'; there are Optimizer Disabled, Optimizer Enabled"),
        ({"optimizationPolicy": "Invalid Policy"}, "unknown optimization policy 'Invalid Policy'"),
        ({"optimizationPolicy": ENABLED, "overrides": [1]}, "overrides are an object"),
        ({"optimizationPolicy": ENABLED, "overrides": {"x": {}}}, "needs named_location and attributes"),
        (
            {"optimizationPolicy": ENABLED, "overrides": {"x": {"named_location": "a b", "attributes": []}}},
            "'a b' cannot be named",
        ),
        (
            {
                "optimizationPolicy": ENABLED,
                "overrides": {"x": {"named_location": "a", "attributes": [{"key": "data_type", "value": "f32 x=y"}]}},
            },
            "data_type cannot be 'f32 x=y'",
        ),
        (
            {
                "optimizationPolicy": ENABLED,
                "overrides": {"x": {"named_location": "a", "attributes": [{"key": "colour", "value": "red"}]}},
            },
            "no attribute 'colour'",
        ),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        parse_settings(settings)


@pytest.mark.parametrize(
    "line", ["system-desc-path=/etc/passwd", "override-output-layout=a=8x8 enable-x=true", "nothing"]
)
def test_lines_that_are_no_overrides_are_refused(line: str) -> None:
    with pytest.raises(ParameterError, match="is no override"):
        parse_lines(ENABLED, line)

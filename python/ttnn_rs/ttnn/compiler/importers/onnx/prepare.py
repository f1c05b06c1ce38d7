"""Models made ready.

Checked, of a known version, without functions that have no row.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.importers.onnx.binding import graphs_of
from ttnn.compiler.ir.diagnostics import CompileError, Diagnostic

__all__ = ["NEWEST_OPSET", "OLDEST_OPSET", "prepared", "versions_of"]

OLDEST_OPSET: Final = 7
NEWEST_OPSET: Final = 28


def versions_of(model: Any) -> dict[str, int]:
    """Return the opset versions of a model by domain."""
    return {"" if one.domain == "ai.onnx" else one.domain: int(one.version) for one in model.opset_import}


def prepared(model: Any, rows: Collection[tuple[str, str]]) -> Any:
    """Return a model with bodies of functions that have no row.

    Args:
        model: The model; it is not changed.
        rows: Domains and names of operations that have a row.

    Raises:
        CompileError: ONNX's checker refuses the model.
        UnsupportedError: It has another opset than 7 to 28.
    """
    from onnx import checker, defs, inliner, version_converter

    try:
        checker.check_model(_without_files(model), full_check=False)
    except Exception as error:
        raise CompileError(Diagnostic("error", str(error).strip().splitlines()[0], at="ONNX model")) from None
    version = versions_of(model).get("", OLDEST_OPSET)
    if 0 < version < OLDEST_OPSET:
        try:
            model = version_converter.convert_version(model, OLDEST_OPSET)
        except Exception as error:
            raise UnsupportedError(
                f"the model has opset {version}; the importer reads {OLDEST_OPSET} to {NEWEST_OPSET}, and ONNX cannot "
                f"convert it: {str(error).strip().splitlines()[0]}"
            ) from None
    if version > NEWEST_OPSET:
        raise UnsupportedError(
            f"the model has opset {version}; the importer reads {OLDEST_OPSET} to {NEWEST_OPSET}. Export it with one "
            "of these."
        )
    if model.functions:
        model = inliner.inline_local_functions(model)
    versions = versions_of(model)
    without = set()
    for graph in graphs_of(model.graph):
        for node in graph.node:
            domain = "" if node.domain == "ai.onnx" else node.domain
            if (domain, node.op_type) in rows or domain not in versions:
                continue
            try:
                schema: Any = defs.get_schema(node.op_type, versions[domain], domain)
            except defs.SchemaError:
                continue
            if schema.has_function or schema.has_context_dependent_function:
                without.add((domain, node.op_type))
    if not without:
        return model
    try:
        inlined = inliner.inline_selected_functions(model, sorted(without), exclude=False, inline_schema_functions=True)
        checker.check_model(_without_files(inlined), full_check=False)
    except (RuntimeError, checker.ValidationError):
        # A body that depends on types which ONNX does not infer, or lacks attributes: its node is refused.
        return model
    # A body may call functions that have no row either.
    return inlined if _same(inlined, model) else prepared(inlined, rows)


def _without_files(model: Any) -> Any:
    """Return a model whose tensors in files are inputs.

    The checker would look for the files.
    """
    from onnx import ModelProto, TensorProto, helper

    outside = [one for one in model.graph.initializer if one.data_location == TensorProto.EXTERNAL]
    if not outside:
        return model
    made = ModelProto()
    made.CopyFrom(model)
    names = {one.name for one in outside}
    kept = [one for one in made.graph.initializer if one.name not in names]
    del made.graph.initializer[:]
    made.graph.initializer.extend(kept)
    given = {one.name for one in made.graph.input}
    for one in outside:
        if one.name not in given:
            made.graph.input.append(helper.make_tensor_value_info(one.name, one.data_type, list(one.dims)))
    return made


def _same(first: Any, second: Any) -> bool:
    """Return whether two models have the same nodes."""
    kinds = [[node.op_type for graph in graphs_of(one.graph) for node in graph.node] for one in (first, second)]
    return kinds[0] == kinds[1]

"""`convert-ttir-to-ttnn`: tensor operations become calls of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn.compiler.conversion.ttir_to_ttnn import attention as lowering_attention
from ttnn.compiler.conversion.ttir_to_ttnn import collectives as lowering_collectives
from ttnn.compiler.conversion.ttir_to_ttnn import norms as lowering_norms
from ttnn.compiler.conversion.ttir_to_ttnn import products as lowering_products
from ttnn.compiler.conversion.ttir_to_ttnn import training as lowering_training
from ttnn.compiler.conversion.ttir_to_ttnn import tt
from ttnn.compiler.conversion.ttir_to_ttnn import windows as lowering_windows
from ttnn.compiler.dialects.attributes import DeviceAttr, TTNNLayoutAttr
from ttnn.compiler.dialects.kinds import f32_attr, i32_array, i32_attr, integer
from ttnn.compiler.dialects.operations import TableOp, make, operation_class
from ttnn.compiler.dialects.spec import text_of
from ttnn.compiler.dialects.ttnn.described import data_type_attr
from ttnn.compiler.dialects.verify.parts import shape_of
from ttnn.compiler.features import DIALECT_TT, MASKED_ATTENTION
from ttnn.compiler.ir.attributes import DenseAttr
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.xdsl_adapter import (
    ArrayAttr,
    Attribute,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    Operation,
    SSAValue,
    TensorType,
)
from ttnn.compiler.transforms.base import fail, insert_before, owner_of, replace, table_ops
from ttnn.compiler.transforms.ttcore.device import device_op, device_value
from ttnn.compiler.transforms.ttnn.layout.layouts import (
    layout_of,
    shape_attr,
)

__all__ = ["run"]

Properties = dict[str, Attribute]
Special = Callable[[Module, TableOp], None]

_NAMES = {
    "div": "divide",
    "upsample2d": "upsample",
    "quantize_unrolled": "quantize",
    "dequantize_unrolled": "dequantize",
    "requantize_unrolled": "requantize",
    "dealloc": "deallocate",
    "scatter_in_dim": "scatter",
}

_EARLIER_NAMES = {"ttnn.divide": "ttnn.div", "ttnn.deallocate": "ttnn.dealloc"}


def run(module: Module) -> None:
    """Lower all operations.

    Raises:
        CompileError: A tensor has no layout, or an operation has no counterpart.
    """
    if DIALECT_TT.of(module.version):
        for empty in [op for op in module.op.walk() if op.name == "tensor.empty"]:
            replace(empty, [tt.empty(module, empty, empty.results[0].type)])
    for op in table_ops(module.op, "ttir."):
        if op.parent is not None:
            _lower(module, op)
    for left in module.op.walk():
        if left.name.startswith("ttir."):
            raise _illegal(module, left, "convert-ttir-to-ttnn has no lowering of it")


def _illegal(module: Module, op: Operation, why: str) -> CompileError:
    return CompileError(
        module.at(op, f"failed to legalize operation '{op.name}' that was explicitly marked illegal: {why}")
    )


def _layout(module: Module, op: Operation, type_: Attribute) -> TTNNLayoutAttr:
    layout = layout_of(type_)
    if layout is None:
        raise fail(module, op, "a tensor has no layout: run ttnn-layout before convert-ttir-to-ttnn")
    return layout


def _lower(module: Module, op: TableOp) -> None:
    short = op.name.partition(".")[2]
    early = DIALECT_TT.of(module.version)
    for result in op.results:
        if isinstance(result.type, TensorType) and not early:
            _layout(module, op, result.type)
    special = (_SPECIAL_2024_09 if early else _SPECIAL).get(short)
    if special is not None:
        special(module, op)
        return
    change = (_CHANGES_2024_09 if early else _CHANGES).get(short)
    _emit(module, op, "ttnn." + _NAMES.get(short, short), change(op) if change else {})


def _emit(
    module: Module,
    op: TableOp,
    name: str,
    extra: Properties | None = None,
    *,
    operands: list[SSAValue] | None = None,
    drop: tuple[str, ...] = (),
) -> None:
    """Replace an operation by a `ttnn` one, with attributes.

    They are those of the same name, and those that are given.
    """
    earlier = _EARLIER_NAMES.get(name)
    if earlier is not None and operation_class(name, module.version) is None:
        name = earlier
    kind = operation_class(name, module.version)
    if kind is None:
        raise _illegal(module, op, f"there is no {name} in this version, so it cannot be lowered")
    properties: Properties = {}
    for key, entry in kind.text.attributes.items():
        value = (extra or {}).get(key)
        if value is None and key not in drop:
            value = op.properties.get(key)
        if value is None:
            value = _filled(op, key, entry.kind, optional=entry.optional)
        if value is not None and not isinstance(value, NoneAttr):
            properties[key] = _of_kind(value, entry.kind)
    values, sizes = _operands(module, op, kind, operands)
    new = make(
        name,
        module.version,
        values,
        [result.type for result in op.results],
        properties,
        outs=_outputs(module, op, name),
        sizes=sizes,
        attributes=dict(op.attributes),
        location=op.location,
    )
    insert_before(op, new)
    replace(op, new.results)


def _outputs(module: Module, op: TableOp, name: str) -> tuple[SSAValue, ...]:
    """Return the output operands of a library operation, if it has any."""
    if not text_of(name, module.version).outs:
        return ()
    return op.outs or tuple(tt.empty(module, op, result.type) for result in op.results)


def _operands(
    module: Module, op: TableOp, kind: type[TableOp], given: list[SSAValue] | None
) -> tuple[list[SSAValue], tuple[int, ...]]:
    """Return operands in the new operation's groups, with device if requested."""
    rest = list(op.inputs if given is None else given)
    # Some operations of 2026-08 have an operand for the result, which the library makes itself.
    names = {group.name for group in op.text.inputs if group.name != "output"} if given is None else set()
    values: list[SSAValue] = []
    sizes = []
    groups = [group for group in kind.text.inputs if group.name not in ("device", "mesh_device")]
    if op.name.endswith("quantize_unrolled"):
        return rest, (1,) * len(rest)
    # Operands for outputs, which a few operations of the tensor dialect still have, are none of the library's.
    by_name = all(group.name in names for group in groups) and len(groups) == len(names - {"output"})
    optional = sum(1 for group in groups if group.kind == "?")
    for i, group in enumerate(kind.text.inputs):
        if group.name in ("device", "mesh_device"):
            if group.kind == "?" and not _wants_device(op):
                sizes.append(0)
                continue
            values.append(device_value(module, op))
            sizes.append(1)
        elif by_name:
            found = op.group(group.name)
            values += found
            sizes.append(len(found))
        elif group.kind == "*":
            after = sum(1 for one in kind.text.inputs[i + 1 :] if one.name != "device" and not one.kind)
            count = len(rest) - after
            values += rest[:count]
            del rest[:count]
            sizes.append(count)
        elif group.kind == "?":
            single = sum(1 for one in kind.text.inputs[i + 1 :] if one.name != "device" and not one.kind)
            take = 1 if len(rest) > single and optional else 0
            values += rest[:take]
            del rest[:take]
            sizes.append(take)
        else:
            values += rest[:1]
            del rest[:1]
            sizes.append(1)
    return values, tuple(sizes)


def _wants_device(op: TableOp) -> bool:
    layout = layout_of(op.results[0].type) if op.results else None
    return layout is None or layout.space != "system_memory"


def _filled(op: TableOp, key: str, kind: str, *, optional: bool) -> Attribute | None:
    """Return an attribute that follows from the result, or None."""
    short = op.name.partition(".")[2]
    layout = layout_of(op.results[0].type) if op.results else None
    if layout is None:
        return None
    if key == "output_dtype":
        return data_type_attr(layout)
    if key == "shape" and kind == "ttnn.shape":
        return shape_attr(shape_of(op.results[0]))
    if key in ("use_multicore", "in_place_halo") and not optional:
        return IntegerAttr(1 if (key, short) == ("use_multicore", "pad") else 0, IntegerType(1))
    return None


def _of_kind(value: Attribute, kind: str) -> Attribute:
    """Return an attribute converted to the kind of the table, if possible."""
    words = kind.split("|")
    if isinstance(value, IntegerAttr) and words == ["f32"]:
        return f32_attr(float(value.value.data))
    if isinstance(value, IntegerAttr) and not any(word in ("bool", "any") for word in words):
        wanted = next((word for word in words if word.rstrip("0123456789") in ("i", "si", "ui")), None)
        if wanted is not None and not (len(words) > 1 and str(value.type) in words):
            return integer(value.value.data, wanted)
    if isinstance(value, DenseArrayBase) and words == ["[i32]"]:
        return ArrayAttr([i32_attr(one) for one in value.get_values()])
    if isinstance(value, ArrayAttr) and words == ["array<i32>"]:
        return i32_array([one.value.data for one in value.data if isinstance(one, IntegerAttr)])
    return value


# Operations whose attributes follow from shapes.


def _pair(value: Any) -> tuple[int, ...]:
    return (value, value) if isinstance(value, int) else tuple(value)


def _padding(value: Any) -> tuple[int, ...]:
    """Return the padding in TT-NN's form.

    Two numbers if sides are alike, else top, bottom, left, right.
    """
    if isinstance(value, int):
        return (value, value)
    if len(value) == 2:
        return tuple(value)
    top, left, bottom, right = value
    return (top, left) if (top, left) == (bottom, right) else (top, bottom, left, right)


def _image(op: TableOp) -> tuple[int, int, int, int]:
    """Return the image's batch, height, width and channels, even if flattened."""
    flat = op.properties.get("flattened_compat_info")
    shape = shape_of(op.inputs[0])
    if flat is not None:
        from ttnn.compiler.ir.printing import attribute_text
        from ttnn.compiler.transforms.ttir.flatten_sliding_window import flat_numbers

        batch, height, width = flat_numbers(attribute_text(flat))
        return batch, height, width, shape[-1]
    return shape[0], shape[1], shape[2], shape[3]


def _conv(op: TableOp) -> Properties:
    batch, height, width, channels = _image(op)
    weight = shape_of(op.inputs[1])
    out = shape_of(op.results[0])[-1]
    numbers = {
        "in_channels": channels,
        "out_channels": out,
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
    }
    properties: Properties = {name: i32_attr(value) for name, value in numbers.items()}
    properties["kernel_size"] = i32_array(weight[2:4])
    properties["stride"] = i32_array(_pair(op.get("stride")))
    properties["dilation"] = i32_array(_pair(op.get("dilation")))
    properties["padding"] = i32_array(_padding(op.get("padding")))
    if "output_padding" in op.spec.attributes:
        properties["output_padding"] = i32_array(_pair(op.get("output_padding")))
    return properties


def _pool(op: TableOp) -> Properties:
    batch, height, width, channels = _image(op)
    numbers = {"batch_size": batch, "input_height": height, "input_width": width, "channels": channels}
    properties: Properties = {name: integer(value, "si32") for name, value in numbers.items()}
    properties["kernel_size"] = i32_array(_pair(op.get("kernel")))
    properties["stride"] = i32_array(_pair(op.get("stride")))
    properties["dilation"] = i32_array(_pair(op.get("dilation")))
    properties["padding"] = i32_array(_padding(op.get("padding")))
    return properties


def _zeros(op: TableOp) -> Properties:
    return {"shape": shape_attr(shape_of(op.results[0]))}


def _argmax(op: TableOp) -> Properties:
    dims = op.get("dim_arg")
    return {"dim": i32_attr(dims[0])} if dims else {}


def _prod(op: TableOp) -> Properties:
    dims = op.get("dim_arg")
    dims = (dims,) if isinstance(dims, int) else dims
    if dims is None or len(dims) != 1:
        return {"dim_arg": NoneAttr()}
    return {"dim_arg": integer(dims[0], "i64")}


def _repeat(op: TableOp) -> Properties:
    return {"repeat_dims": shape_attr(tuple(op.get("repeat_dimensions")))}


def _rand(op: TableOp) -> Properties:
    return {"size": shape_attr(shape_of(op.results[0]))}


def _concat(op: TableOp) -> Properties:
    rank = len(shape_of(op.inputs[0]))
    return {"dim": integer(op.get("dim") % rank, "si32")}


def _rms_norm(op: TableOp) -> Properties:
    return {"epsilon": op.attribute("epsilon") or f32_attr(1e-5)}


def _arange(op: TableOp) -> Properties:
    return {name: op.properties[name] for name in ("start", "end", "step")}


_CHANGES: dict[str, Callable[[TableOp], Properties]] = {
    "conv2d": _conv,
    "max_pool2d": _pool,
    "argmax": _argmax,
    "ones": _zeros,
    "zeros": _zeros,
    "prod": _prod,
    "repeat": _repeat,
    "rand": _rand,
    "concat": _concat,
    "rms_norm": _rms_norm,
    "arange": _arange,
}


# Operations that become others.


def _to_reshape(module: Module, op: TableOp) -> None:
    _emit(
        module,
        op,
        "ttnn.reshape",
        {"shape": ArrayAttr([i32_attr(size) for size in shape_of(op.results[0])])},
    )


def _reshape(module: Module, op: TableOp) -> None:
    _emit(module, op, "ttnn.reshape")


def _broadcast(module: Module, op: TableOp) -> None:
    shape, result = shape_of(op.inputs[0]), shape_of(op.results[0])
    factors = tuple(out // size if size else 1 for size, out in zip(shape, result, strict=True))
    _emit(module, op, "ttnn.repeat", {"repeat_dims": shape_attr(factors)})


def _pow(module: Module, op: TableOp) -> None:
    exponent = _scalar(op.inputs[1])
    # pow_scalar takes exponents from 0 on.
    if isinstance(exponent, (FloatAttr, IntegerAttr)) and exponent.value.data >= 0:
        _emit(module, op, "ttnn.pow_scalar", {"rhs": exponent}, operands=[op.inputs[0]])
    else:
        _emit(module, op, "ttnn.pow_tensor")


def _scalar(value: SSAValue) -> Attribute | None:
    """Return a tensor's uniform value as f32 or i32, or None."""
    owner = owner_of(value)
    while owner is not None and owner.name in ("ttir.broadcast", "ttir.reshape", "ttnn.repeat", "ttnn.reshape"):
        owner = owner_of(owner.operands[0])
    if owner is None:
        return None
    if owner.name in ("ttir.full", "ttnn.full"):
        return owner.properties.get("fill_value")
    constant = owner.properties.get("value")
    if owner.name in ("ttir.constant", "ttnn.constant") and isinstance(constant, DenseAttr) and constant.splat:
        number = constant.elements()[0]
        integral = isinstance(constant.element_type, IntegerType)
        return i32_attr(int(number)) if integral else f32_attr(float(number))
    if owner.name.endswith((".zeros", ".ones")):
        return f32_attr(1.0 if owner.name.endswith(".ones") else 0.0)
    return None


def _full(module: Module, op: TableOp) -> None:
    value = op.properties.get("fill_value")
    assert value is not None
    if isinstance(value, FloatAttr) and getattr(value.type, "name", "") != "f32":
        value = f32_attr(value.value.data)
    _emit(module, op, "ttnn.full", {"fill_value": value, "shape": shape_attr(shape_of(op.results[0]))})


def _constant(module: Module, op: TableOp) -> None:
    value = op.properties.get("value")
    if isinstance(value, DenseAttr) and value.splat and value.data:
        number = value.elements()[0]
        integral = isinstance(value.element_type, IntegerType) and value.element_type.width.data > 1
        fill: Attribute = i32_attr(_signed(int(number))) if integral else f32_attr(float(number))
        _emit(module, op, "ttnn.full", {"fill_value": fill}, drop=("value",))
        return
    _emit(module, op, "ttnn.constant")


def _signed(value: int) -> int:
    """A 32-bit number as signed; larger ones clamp to the range."""
    if value >= 1 << 32 or value < -(1 << 31):
        return (1 << 31) - 1 if value > 0 else -(1 << 31)
    return value - (1 << 32) if value >= 1 << 31 else value


def _empty(module: Module, op: TableOp) -> None:
    if not op.results[0].uses:
        from ttnn.compiler.transforms.base import erase

        erase(op)
        return
    _emit(module, op, "ttnn.empty" if _wants_device(op) else "ttnn.zeros")


def _to_layout(module: Module, op: TableOp) -> None:
    _layout(module, op, op.results[0].type)
    _emit(module, op, "ttnn.to_tensor_spec", operands=[op.inputs[0]])


def _update_cache(module: Module, op: TableOp) -> None:
    """Caches change in place: the operation of the library has no result."""
    name = "ttnn." + op.name.partition(".")[2]
    kind = operation_class(name, module.version)
    assert kind is not None
    properties = {k: v for k, v in op.properties.items() if k in kind.text.attributes}
    sizes = tuple(len(op.group(group.name)) for group in kind.text.inputs)
    new = make(name, module.version, list(op.inputs), [], properties, sizes=sizes, location=op.location)
    insert_before(op, new)
    replace(op, [op.inputs[0]] if op.results else [])


def _batch_norm(module: Module, op: TableOp) -> None:
    operand, scale, offset, mean, variance = op.inputs[:5]
    name = "ttnn." + op.name.partition(".")[2]
    operands = [operand, mean, variance, scale, offset]
    if len(op.results) == 1:
        _emit(module, op, name, operands=operands)
        return
    # In training the library changes the running statistics in place: they are the other results.
    kind = operation_class(name, module.version)
    assert kind is not None
    known = {key: value for key, value in op.properties.items() if key in kind.text.attributes}
    new = make(name, module.version, operands, [op.results[0].type], known, sizes=(1, 1, 1, 1, 1), location=op.location)
    insert_before(op, new)
    replace(op, [new.results[0], mean, variance])


def _grid(module: Module) -> tuple[int, ...]:
    """The cores that may compute: rows and columns."""
    registered = device_op(module)
    attribute = registered.properties.get("device_attr") if registered is not None else None
    return attribute.grid.shape if isinstance(attribute, DeviceAttr) else (8, 8)


def _conv3d(module: Module, op: TableOp) -> None:
    lowering_windows.conv3d(module, op, _grid(module))


def _sparse_matmul(module: Module, op: TableOp) -> None:
    config = lowering_products.sparse_config(op, _grid(module))
    _emit(module, op, "ttnn.sparse_matmul", {"program_config": config})


def _conv_transpose2d(module: Module, op: TableOp) -> None:
    lowering_windows.check_transpose(module, op)
    _emit(module, op, "ttnn.conv_transpose2d", _conv(op))


def _avg_pool2d(module: Module, op: TableOp) -> None:
    lowering_windows.check_pool(module, op)
    padded = lowering_windows.padded_image(module, op, _image(op))
    if padded is None:
        _emit(module, op, "ttnn.avg_pool2d", _pool(op))
        return
    value, height, width = padded
    image = {"input_height": height, "input_width": width}
    extra = {**_pool(op), **{name: integer(size, "si32") for name, size in image.items()}}
    _emit(module, op, "ttnn.avg_pool2d", {**extra, "padding": i32_array((0, 0))}, operands=[value])


def _with_indices(module: Module, op: TableOp) -> None:
    lowering_windows.max_pool2d_with_indices(module, op, _pool(op))


def _attention(module: Module, op: TableOp) -> None:
    if MASKED_ATTENTION.of(module.version):
        lowering_attention.attention(module, op)
    else:
        _emit(module, op, "ttnn.scaled_dot_product_attention")


def _collective(lower: Special) -> Special:
    """Return the lowering of a collective; 2025-10 calls it by name."""

    def apply(module: Module, op: TableOp) -> None:
        name = "ttnn." + op.name.partition(".")[2]
        if operation_class(name, module.version) is not None or operation_class("ttnn.assign", module.version) is None:
            _emit(module, op, name)
        else:
            lower(module, op)

    return apply


def _typecast(module: Module, op: TableOp) -> None:
    _emit(module, op, "ttnn.typecast")


def _scatter(module: Module, op: TableOp) -> None:
    _emit(module, op, "ttnn.scatter")


_SPECIAL: dict[str, Special] = {
    "embedding_backward": lowering_training.embedding_backward,
    "reshape": _reshape,
    "squeeze": _to_reshape,
    "unsqueeze": _to_reshape,
    "broadcast": _broadcast,
    "pow": _pow,
    "full": _full,
    "constant": _constant,
    "empty": _empty,
    "to_layout": _to_layout,
    "update_cache": _update_cache,
    "fill_cache": _update_cache,
    "paged_update_cache": _update_cache,
    "paged_fill_cache": _update_cache,
    "batch_norm_inference": _batch_norm,
    "batch_norm_training": _batch_norm,
    "typecast": _typecast,
    "conv1d": lowering_windows.conv1d,
    "conv3d": _conv3d,
    "conv_transpose2d": _conv_transpose2d,
    "sparse_matmul": _sparse_matmul,
    "avg_pool2d": _avg_pool2d,
    "max_pool2d_with_indices": _with_indices,
    "group_norm": lowering_norms.group_norm,
    "layer_norm": lowering_norms.layer_norm,
    "adamw": lowering_training.adamw,
    "scaled_dot_product_attention": _attention,
    "scatter_in_dim": _scatter,
    "mesh_shard": _collective(lowering_collectives.mesh_shard),
    "collective_permute": _collective(lowering_collectives.collective_permute),
    "collective_broadcast": _collective(lowering_collectives.collective_broadcast),
    "all_to_all": _collective(lowering_collectives.all_to_all),
}
_CHANGES_2024_09 = {"concat": _concat, **tt.CHANGES}
_SPECIAL_2024_09 = {"squeeze": _to_reshape, "unsqueeze": _to_reshape, **tt.SPECIAL}

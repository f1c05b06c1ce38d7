"""The builder infers types, converts attributes, and refuses what does not agree."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ttnn.base.exceptions import EngineBugError
from ttnn.compiler.importers.builder import Builder, element_of, program, scalar, shape_of, tensor
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.versions import parse_module, print_module


def test_program_is_read_again() -> None:
    builder = Builder("main", visibility="public")
    x = builder.argument("x", tensor((32, 64), "f32"), "input")
    weight = builder.argument("w", tensor((64, 16), "f32"), "parameter")
    builder.location("dense/matmul")
    product = builder.add(builder.matmul(x, weight), builder.constant(np.ones((1, 16)), scalar("f32")))
    values, indices = builder.topk(product, k=4, dim=-1)
    function = builder.finish([builder.sum(values, dim_arg=[1], keep_dim=False), indices])
    text = print_module(program([function]), debuginfo=True)
    assert print_module(parse_module(text), debuginfo=True) == text
    assert '"ttir.sum"(%values) <{dim_arg = [1 : i32], keep_dim = false}>' in text
    assert 'loc("dense/matmul")' in text
    assert "ttcore.argument_type = #ttcore.argument_type<parameter>" in text


@pytest.mark.parametrize(
    ("name", "shapes", "attributes", "wanted"),
    [
        ("add", [(4, 1, 3), (5, 1)], {}, (4, 5, 3)),
        ("where", [(4, 1), (4, 5), (1, 5)], {}, (4, 5)),
        ("linear", [(2, 3, 4), (6, 4), (6,)], {"transpose_b": True}, (2, 3, 6)),
        ("matmul", [(4,), (4, 6)], {}, (6,)),
        ("mean", [(2, 3, 4)], {"dim_arg": [-1], "keep_dim": True}, (2, 3, 1)),
        ("max", [(2, 3, 4)], {"keep_dim": False}, ()),
        ("concat", [(2, 3), (2, 5)], {"dim": 1}, (2, 8)),
        ("slice_static", [(9, 8)], {"begins": [1, 0], "ends": [9, 8], "step": [3, 2]}, (3, 4)),
        ("pad", [(2, 3)], {"padding": [1, 0, 0, 2], "value": 0.5}, (3, 5)),
        ("permute", [(2, 3, 4)], {"permutation": [2, 0, 1]}, (4, 2, 3)),
        ("transpose", [(2, 3, 4)], {"dim0": 0, "dim1": -1}, (4, 3, 2)),
        ("unsqueeze", [(2, 3)], {"dim": -1}, (2, 3, 1)),
        ("broadcast", [(2, 1)], {"broadcast_dimensions": [1, 5]}, (2, 5)),
        ("embedding", [(2, 3), (10, 7)], {}, (2, 3, 7)),
        (
            "conv2d",
            [(1, 9, 8, 4), (6, 4, 3, 3)],
            {"stride": 2, "padding": [1, 0, 0, 1], "dilation": 1, "groups": 1},
            (1, 4, 4, 6),
        ),
        (
            "conv_transpose2d",
            [(1, 4, 4, 6), (6, 5, 3, 3)],
            {"stride": 2, "padding": 1, "output_padding": 1, "dilation": 1, "groups": 1},
            (1, 8, 8, 5),
        ),
        (
            "max_pool2d",
            [(1, 9, 8, 4)],
            {"kernel": [3, 2], "stride": 2, "dilation": 1, "padding": 0, "ceil_mode": True},
            (1, 4, 4, 4),
        ),
        (
            "dot_general",
            [(2, 3, 4), (4, 2, 5)],
            {"batch_dims_lhs": [0], "batch_dims_rhs": [1], "contract_dims_lhs": [2], "contract_dims_rhs": [0]},
            (2, 3, 5),
        ),
    ],
)
def test_shapes_are_inferred(
    name: str, shapes: list[tuple[int, ...]], attributes: dict[str, object], wanted: tuple[int, ...]
) -> None:
    builder = Builder("main")
    values = [
        builder.argument(None, tensor(one, "i1" if name == "where" and not i else "f32"))
        for i, one in enumerate(shapes)
    ]
    result = builder.op(name, *values, **attributes)
    assert shape_of(result) == wanted
    program([builder.finish([result])])


def test_identities_and_equal_constants_are_one_value() -> None:
    builder = Builder("main")
    x = builder.argument(None, tensor((2, 3), "f32"))
    assert builder.reshape(x, shape=[2, 3]) is x
    assert builder.permute(x, permutation=[0, 1]) is x
    ones = builder.constant(np.ones((2, 3)), scalar("f32"))
    assert builder.constant(np.ones((2, 3)), scalar("f32")) is ones
    assert builder.constant(np.ones((2, 3)), scalar("bf16")) is not ones
    assert builder.splat(1, (2, 3), scalar("f32")) is ones


def test_zeros_of_both_signs_are_two_constants() -> None:
    builder = Builder("main")
    mixed = builder.constant(np.array([0.0, -0.0]), scalar("f32"))
    value = mixed.owner.properties["value"]
    assert not value.splat
    assert np.signbit(value.to_numpy()).tolist() == [False, True]


def test_predicates_are_truth_values() -> None:
    builder = Builder("main")
    x = builder.argument(None, tensor((2,), "f32"))
    assert element_of(builder.gt(x, x)) == scalar("i1")
    assert element_of(builder.logical_not(builder.gt(x, x))) == scalar("i1")


def test_stated_and_inferred_types_must_agree() -> None:
    builder = Builder("main")
    x = builder.argument(None, tensor((2, 3), "f32"))
    with pytest.raises(EngineBugError, match=r"ttir\.exp: the result is tensor<2x3xf32>, .* tensor<3x2xf32>"):
        builder.exp(x, types=[tensor((3, 2), "f32")])


def test_a_cast_needs_its_type() -> None:
    builder = Builder("main")
    x = builder.argument(None, tensor((2, 3), "f32"))
    with pytest.raises(EngineBugError, match="cannot be inferred"):
        builder.typecast(x)


def test_shapes_that_do_not_broadcast_are_named() -> None:
    builder = Builder("main")
    x, y = (builder.argument(None, tensor(one, "f32")) for one in ((2, 3), (2, 4)))
    with pytest.raises(EngineBugError, match=r"\[2, 3\] and \[2, 4\] do not broadcast"):
        builder.add(x, y)


def test_unknown_operations_and_attributes_are_refused() -> None:
    builder = Builder("main")
    x = builder.argument(None, tensor((2, 3), "f32"))
    with pytest.raises(AttributeError, match=r"ttir\.explode is no operation"):
        builder.explode(x)
    with pytest.raises(EngineBugError, match=r"ttir\.exp has no attribute fast"):
        builder.exp(x, fast=True)
    with pytest.raises(EngineBugError, match=r"attribute dim is si32, got 'last'"):
        builder.concat(x, x, dim="last")


def test_the_dialect_verifies_the_program() -> None:
    builder = Builder("main")
    x = builder.argument(None, tensor((2, 3), "f32"))
    reshaped = builder.reshape(x, shape=[7])
    with pytest.raises(CompileError, match="reshape"):
        program([builder.finish([reshaped])])


def test_five_thousand_operations_take_little_time() -> None:
    begin = time.process_time()
    builder = Builder("main")
    x = builder.argument(None, tensor((32, 32), "f32"))
    for _ in range(5000):
        x = builder.add(x, x)
    program([builder.finish([x])])
    # 0.4 s on the reference machine; 1.5 s is what the front ends plan with.
    assert time.process_time() - begin < 6

"""Canonical `ttnn` forms, and constants at the head of functions."""

from __future__ import annotations

import pytest

from ttnn.compiler.dialects import TableOp
from ttnn.compiler.pipelines import run
from ttnn.compiler.version import Version
from ttnn.compiler.versions import parse_module, print_module

HEAD = "module {{ func.func @f(%a: tensor<{}>) -> tensor<{}> {{"
END = "  return %r : tensor<{}> }} }}"


def canonical(arguments: str, result: str, *lines: str, version: Version = "2026-08") -> list[TableOp]:
    """Return a function's operations after canonicalize; the last is `%r`."""
    text = "\n".join([HEAD.format(arguments, result), *lines, END.format(result)])
    module = parse_module(text, version=version)
    run(module, "canonicalize")
    assert print_module(parse_module(print_module(module), version=version)) == print_module(module)
    return [op for op in module.op.walk() if isinstance(op, TableOp)]


def line(result: str, name: str, operand: str, types: str, attributes: str = "") -> str:
    """Return a line: `types` is "input -> result"."""
    given, _, made = types.partition(" -> ")
    extra = f" <{{{attributes}}}>" if attributes else ""
    return f'  %{result} = "ttnn.{name}"(%{operand}){extra} : (tensor<{given}>) -> tensor<{made}>'


def test_identity_casts_are_erased_and_cast_pairs_merge() -> None:
    assert canonical("4x6xf32", "4x6xf32", line("r", "typecast", "a", "4x6xf32 -> 4x6xf32")) == []
    both = canonical(
        "4x6xf32",
        "4x6xbf16",
        line("0", "typecast", "a", "4x6xf32 -> 4x6xsi32"),
        line("r", "typecast", "0", "4x6xsi32 -> 4x6xbf16"),
    )
    assert len(both) == 1


def test_cast_with_other_users_is_kept() -> None:
    ops = canonical(
        "4x6xf32",
        "4x6xbf16",
        line("0", "typecast", "a", "4x6xf32 -> 4x6xsi32"),
        '  "ttnn.dump_tensor"(%0) <{file_path = "x.bin"}> : (tensor<4x6xsi32>) -> ()',
        line("r", "typecast", "0", "4x6xsi32 -> 4x6xbf16"),
    )
    assert [op.name for op in ops] == ["ttnn.typecast", "ttnn.dump_tensor", "ttnn.typecast"]


def test_reshapes_merge_unless_the_tensor_between_is_freed() -> None:
    first = line("0", "reshape", "a", "4x6xf32 -> 24xf32", "shape = [24 : i32]")
    second = line("r", "reshape", "0", "24xf32 -> 3x8xf32", "shape = [3 : i32, 8 : i32]")
    (op,) = canonical("4x6xf32", "3x8xf32", first, second)
    assert op.get("shape") == (3, 8)
    freed = '  "ttnn.deallocate"(%0) <{force = false}> : (tensor<24xf32>) -> ()'
    assert len(canonical("4x6xf32", "3x8xf32", first, second, freed)) == 3


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (((2, 0, 1), (0, 2, 1)), (2, 1, 0)),
        (((1, 2, 0), (1, 2, 0)), (2, 0, 1)),
    ],
)
def test_permutations_merge(orders: tuple[tuple[int, ...], ...], expected: tuple[int, ...]) -> None:
    shape, lines, value = (2, 3, 4), [], "a"
    for i, order in enumerate(orders):
        made = tuple(shape[j] for j in order)
        types = f"{'x'.join(map(str, shape))}xf32 -> {'x'.join(map(str, made))}xf32"
        name = "r" if i == len(orders) - 1 else str(i)
        listed = ", ".join(map(str, order))
        lines.append(line(name, "permute", value, types, f"permutation = array<i64: {listed}>"))
        shape, value = made, name
    result = "x".join(map(str, shape))
    (op,) = canonical("2x3x4xf32", f"{result}xf32", *lines)
    assert op.get("permutation") == expected


@pytest.mark.parametrize(
    ("between", "result", "left"),
    [
        ("bf16", "bf16", 0),
        ("bf16", "f32", 1),
        ("f32", "f32", 1),
        # A wider type and back loses nothing, and then nothing is left to do; a narrower one rounds.
        ("f32", "bf16", 0),
        ("f16", "bf16", 2),
        ("si32", "bf16", 2),
    ],
)
@pytest.mark.parametrize(("name", "version"), [("to_layout", "2025-10"), ("to_tensor_spec", "2026-08")])
def test_layout_changes_merge_unless_the_first_rounds(
    between: str, result: str, left: int, name: str, version: Version
) -> None:
    attributes = "layout = #ttnn.layout<tile>" if version == "2025-10" else ""
    ops = canonical(
        "4x6xbf16",
        f"4x6x{result}",
        line("0", name, "a", f"4x6xbf16 -> 4x6x{between}", attributes),
        line("r", name, "0", f"4x6x{between} -> 4x6x{result}", attributes),
        version=version,
    )
    assert len(ops) == left


@pytest.mark.parametrize(("between", "left"), [("f32", ["to_tensor_spec"]), ("si32", ["typecast", "to_tensor_spec"])])
def test_exact_cast_round_trips_are_erased(between: str, left: list[str]) -> None:
    # A layout of its own keeps the second operation.
    memory = "<1x1>, memref<4x6xbf16, #ttnn.buffer_type<dram>>, <interleaved>"
    kind = f"tensor<4x6xbf16, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), {memory}>>"
    module = parse_module(
        f"""func.func @f(%a: tensor<4x6xbf16>) -> {kind} {{
          %0 = "ttnn.typecast"(%a) : (tensor<4x6xbf16>) -> tensor<4x6x{between}>
          %1 = "ttnn.to_tensor_spec"(%0) : (tensor<4x6x{between}>) -> {kind}
          return %1 : {kind}
        }}""",
        version="2026-08",
    )
    run(module, "canonicalize")
    assert [op.name.removeprefix("ttnn.") for op in module.op.walk() if isinstance(op, TableOp)] == left


@pytest.mark.parametrize(
    ("left", "right", "dims", "goes"),
    [
        ((1, 8, 4, 6), (1, 1, 6, 5), (1, 8, 1, 1), True),
        ((1, 1, 4, 6), (1, 1, 6, 5), (1, 8, 1, 1), False),
        ((4, 8, 4, 6), (4, 1, 6, 5), (1, 8, 1, 1), False),
        ((4, 8, 4, 6), (1, 8, 6, 5), (4, 1, 1, 1), False),
        ((1, 8, 4, 6), (1, 1, 3, 5), (1, 8, 2, 1), False),
        ((1, 4, 6), (1, 6, 5), (4, 1, 1), False),
    ],
)
def test_matmul_absorbs_the_repeat_of_its_second_operand(
    left: tuple[int, ...], right: tuple[int, ...], dims: tuple[int, ...], goes: bool
) -> None:
    whole = tuple(size * count for size, count in zip(right, dims, strict=True))
    result = (*(max(a, b) for a, b in zip(left[:-2], whole[:-2], strict=True)), left[-2], whole[-1])
    a, b, c, r = ("x".join(map(str, shape)) + "xf32" for shape in (left, right, whole, result))
    module = parse_module(
        f"""func.func @f(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{r}> {{
          %0 = "ttnn.repeat"(%b) <{{repeat_dims = #ttnn.shape<{"x".join(map(str, dims))}>}}>
            : (tensor<{b}>) -> tensor<{c}>
          %1 = "ttnn.matmul"(%a, %0) : (tensor<{a}>, tensor<{c}>) -> tensor<{r}>
          return %1 : tensor<{r}>
        }}""",
        version="2026-08",
    )
    run(module, "canonicalize")
    names = [op.name for op in module.op.walk() if isinstance(op, TableOp)]
    assert names == (["ttnn.matmul"] if goes else ["ttnn.repeat", "ttnn.matmul"])


def test_permutation_of_unit_dimensions_becomes_reshape() -> None:
    (op,) = canonical(
        "4x1x6xf32",
        "4x6x1xf32",
        line("r", "permute", "a", "4x1x6xf32 -> 4x6x1xf32", "permutation = array<i64: 0, 2, 1>"),
    )
    assert (op.name, op.get("shape")) == ("ttnn.reshape", (4, 6, 1))


CONSTANTS = """
func.func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
{first}
  %0 = "ttir.constant"() <{{value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}}> : () -> tensor<4xf32>
  %1 = "ttir.multiply"(%a, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.constant"() <{{value = dense<[{second}]> : tensor<4xf32>}}> : () -> tensor<4xf32>
  %3 = "ttir.add"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}}
"""
USED = '  %9 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  "ttir.dealloc"(%9) : (tensor<4xf32>) -> ()'


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "5.0, 6.0, 7.0, 8.0", [(5.0, 6.0, 7.0, 8.0), (1.0, 2.0, 3.0, 4.0)]),
        (USED, "5.0, 6.0, 7.0, 8.0", [(5.0, 6.0, 7.0, 8.0), (1.0, 2.0, 3.0, 4.0)]),
        ("", "1.0, 2.0, 3.0, 4.0", [(1.0, 2.0, 3.0, 4.0)]),
    ],
)
def test_constants_move_to_the_head_of_the_function(first: str, second: str, expected: list[tuple[float, ...]]) -> None:
    module = parse_module(CONSTANTS.format(first=first, second=second), version="2026-08")
    run(module, "canonicalize")
    ops = [op for op in module.op.walk() if isinstance(op, TableOp)]
    head = ops[: len(expected)]
    assert [op.name for op in head] == ["ttir.constant"] * len(expected)
    assert [tuple(float(x) for x in op.properties["value"].elements()) for op in head] == expected  # type: ignore[attr-defined]
    assert all(op.name != "ttir.constant" for op in ops[len(expected) :])


def test_per_axis_scales_print_without_blanks() -> None:
    kind = "tensor<2x3x!quant.uniform<i32:f32:1, {1.000000e-02:10,2.000000e-02:20,3.000000e-02:30}>>"
    text = f"module {{\n  func.func @f(%arg0: {kind}) -> {kind} {{\n    return %arg0 : {kind}\n  }}\n}}\n"
    assert print_module(parse_module(text, version="2026-08")).strip() == text.strip()


def test_constants_of_2025_10_passes_move_to_the_head_after_outputs() -> None:
    kinds = [
        f"tensor<2x3x!quant.uniform<i32:f32{values}>>"
        for values in (", 0.5", ", 0.25", ":1, {0.5,1.0,1.5}", ":1, {0.5:1,1.0:2,1.5:3}", ":1, {2.5,3.0,3.5}")
    ]

    def numbers(source: str, target: str) -> list[object]:
        text = f"""func.func @f(%a: {source}) -> {target} {{
  %0 = ttir.empty() : {target}
  %1 = "ttir.requantize"(%a, %0) : ({source}, {target}) -> {target}
  return %1 : {target}
}}"""
        module = parse_module(text, version="2025-10")
        run(module, "builtin.module(ttir-to-ttir-decomposition, canonicalize, canonicalize)")
        ops = [op for op in module.op.walk() if isinstance(op, TableOp) and op.name in ("ttir.constant", "ttir.full")]
        return [
            op.get("fill_value")
            if op.name == "ttir.full"
            else tuple(float(x) for x in op.properties["value"].elements())  # type: ignore[attr-defined]
            for op in ops
        ]

    assert numbers(kinds[0], kinds[1]) == [0.25, 0, 0.5]
    assert numbers(kinds[2], kinds[4]) == [(0.5, 1.0, 1.5), (2.5, 3.0, 3.5), 0]
    assert numbers(kinds[3], kinds[4]) == [(0.5, 1.0, 1.5), (1.0, 2.0, 3.0), (2.5, 3.0, 3.5), 0]


CREATED = """#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#f32 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4xf32, #host>>
#bf16 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @f() -> tensor<2x4xbf16, #bf16> {{
  %0 = {made} -> tensor<2x4xf32, #f32>
  %1 = "ttnn.to_tensor_spec"(%0) : (tensor<2x4xf32, #f32>) -> tensor<2x4xbf16, #bf16>
  return %1 : tensor<2x4xbf16, #bf16>
}}
"""


ELEMENTS = '"ttnn.constant"() <{{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, {}]]> : tensor<2x4xf32>}}> : ()'


@pytest.mark.parametrize(
    ("made", "joined"),
    [
        ('"ttnn.full"() <{fill_value = 7.0 : f32, shape = #ttnn.shape<2x4>}> : ()', True),
        # Rounded once or twice to bfloat16 is the same, but the chip casts and the host rounds.
        ('"ttnn.full"() <{fill_value = 0.1 : f32, shape = #ttnn.shape<2x4>}> : ()', False),
        ('"ttnn.zeros"() <{shape = #ttnn.shape<2x4>}> : ()', True),
        (ELEMENTS.format(8.0), True),
        (ELEMENTS.format(257.0), False),
    ],
)
def test_creation_takes_the_layout_of_its_use_if_values_are_kept(made: str, joined: bool) -> None:
    module = parse_module(CREATED.format(made=made), version="2026-08")
    run(module, "builtin.module(ttcore-register-device, canonicalize)")
    names = [op.name for op in module.op.walk() if isinstance(op, TableOp) and op.name.startswith("ttnn.")]
    name = made.split('"')[1]
    assert names == (["ttnn.get_device", name] if joined else [name, "ttnn.to_tensor_spec"])


def test_tensor_with_two_users_is_created_once() -> None:
    text = CREATED.format(made='"ttnn.zeros"() <{shape = #ttnn.shape<2x4>}> : ()')
    again = '  %2 = "ttnn.exp"(%0) : (tensor<2x4xf32, #f32>) -> tensor<2x4xf32, #f32>\n'
    again += '  "ttnn.deallocate"(%2) <{force = false}> : (tensor<2x4xf32, #f32>) -> ()\n'
    module = parse_module(text.replace("  return", again + "  return"), version="2026-08")
    run(module, "builtin.module(ttcore-register-device, canonicalize)")
    assert [op.name for op in module.op.walk()].count("ttnn.to_tensor_spec") == 1


def test_requantize_keeps_the_axis_of_scales() -> None:
    from ttnn.compiler.ir import CompileError

    source, target = (f"tensor<2x3x!quant.uniform<i32:f32{one}>>" for one in (":1, {0.5,1.0,1.5}", ", 0.25"))
    text = f"""func.func @f(%a: {source}) -> {target} {{
  %1 = "ttir.requantize"(%a) : ({source}) -> {target}
  return %1 : {target}
}}"""
    module = parse_module(text, version="2026-08")
    with pytest.raises(CompileError, match=r"'ttir.requantize_unrolled' op Input .* must both be per-axis or both be"):
        run(module, "ttir-to-ttir-decomposition")

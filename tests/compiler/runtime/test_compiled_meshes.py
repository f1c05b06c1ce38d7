"""Programs of several chips: shards, collectives, and the bits of direct calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ttnn
from testkit.meshes import by_chip, mesh_of, same
from ttnn.base.exceptions import ParameterError
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program, programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.pipelines import run
from ttnn.compiler.runtime.executor import execute
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.versions import parse_module, print_module

Array = NDArray[np.float32]
REPLICATED = "shard_dims = array<i64: -1>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>"


def shard(dims: tuple[int, ...], counts: tuple[int, ...], direction: str) -> str:
    """Return attributes of `mesh_shard`.

    They are a tensor dimension for each mesh axis, and the parts of each dimension.
    """
    where = (
        f"shard_dims = array<i64: {', '.join(map(str, dims))}>, shard_shape = array<i64: {', '.join(map(str, counts))}>"
    )
    whole = f"{where}, shard_type = #ttcore.shard_type<devices>" if max(dims) >= 0 else REPLICATED
    return f"<{{{whole}, shard_direction = #ttcore.shard_direction<{direction}>}}>"


def tensor(shape: tuple[int, ...], dtype: str = "f32") -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{dtype}>"


def split(shape: tuple[int, ...], counts: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size // count for size, count in zip(shape, counts, strict=True))


def compiled(text: str, mesh: tuple[int, int], version: str = "2026-08", options: str = "") -> Program:
    """Return the program of a module, from the bytes of its binary."""
    module = parse_module(text, "test.mlir", default_version=version)
    run(module, f"ttir-to-ttnn-backend-pipeline{{mesh-shape={mesh[0]},{mesh[1]} {options}}}")
    binary = Binary.parse(ttnn_to_binary(module, ttnn.__version__).to_bytes())
    (program,) = (one for one in programs(binary) if not one.private)
    assert program.mesh == mesh
    return program


def values(seed: int, shape: tuple[int, ...]) -> Array:
    """Return numbers that bfloat16 holds."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def outputs(program: Program, mesh: ttnn.MeshDevice, *inputs: Array) -> list[Array]:
    made = execute(program, [ttnn.from_torch(one) for one in inputs], mesh)
    return [np.asarray(ttnn.to_numpy(one), np.float32) for one in made]


@pytest.fixture
def row() -> Iterator[ttnn.MeshDevice]:
    with mesh_of((1, 2), ttnn.FabricConfig.FABRIC_1D) as mesh:
        yield mesh


def through(name: str, attributes: str, kind: str, result: str, version: str = "2026-08") -> str:
    """Return an operation of one operand, with an output in 2025-10."""
    if version == "2026-08":
        return f'%1 = "ttir.{name}"(%0) <{{{attributes}}}> : ({kind}) -> {result}'
    return (
        f'%9 = ttir.empty() : {result}\n%1 = "ttir.{name}"(%0, %9) <{{{attributes}}}> : ({kind}, {result}) -> {result}'
    )


def collective(
    name: str,
    attributes: str,
    shape: tuple[int, ...],
    counts: tuple[int, ...],
    local: Callable[[tuple[int, ...]], tuple[int, ...]] = lambda shape: shape,
    version: str = "2026-08",
    dims: tuple[int, int] = (-1, 1),
) -> str:
    """Return a module with an operation between cut and joined tensors."""
    part = split(shape, counts)
    result = local(part)
    whole = tuple(size * count for size, count in zip(result, counts, strict=True))
    return f"""func.func @main(%arg0: {tensor(shape)}) -> {tensor(whole)} {{
        %0 = "ttir.mesh_shard"(%arg0) {shard(dims, counts, "full_to_shard")} : ({tensor(shape)}) -> {tensor(part)}
        {through(name, attributes, tensor(part), tensor(result), version)}
        %2 = "ttir.mesh_shard"(%1) {shard(dims, counts, "shard_to_full")} : ({tensor(result)}) -> {tensor(whole)}
        return %2 : {tensor(whole)}
    }}"""


VERSIONS = pytest.mark.parametrize("version", ["2025-10", "2026-08"])
SUM = "reduce_type = #ttcore.reduce_type<sum>, cluster_axis = 1 : ui32"


@VERSIONS
@pytest.mark.parametrize(
    ("name", "attributes", "local", "expected"),
    [
        (
            "all_gather",
            "all_gather_dim = 0 : si32, cluster_axis = 1 : ui32",
            lambda shape: (2 * shape[0], shape[1]),
            lambda parts: [np.concatenate(parts)] * 2,
        ),
        ("all_reduce", SUM, lambda shape: shape, lambda parts: [parts[0] + parts[1]] * 2),
        (
            "reduce_scatter",
            f"{SUM}, scatter_dim = 0 : si32",
            lambda shape: (shape[0] // 2, shape[1]),
            lambda parts: np.split(parts[0] + parts[1], 2),
        ),
        (
            "collective_permute",
            "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>",
            lambda shape: shape,
            lambda parts: [np.zeros_like(parts[0]), parts[0]],
        ),
        (
            "collective_permute",
            "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>",
            lambda shape: shape,
            lambda parts: [parts[1], parts[0]],
        ),
        (
            "collective_permute",
            "source_target_pairs = dense<[[1, 1]]> : tensor<1x2xi64>",
            lambda shape: shape,
            lambda parts: [np.zeros_like(parts[0]), parts[1]],
        ),
    ],
    ids=["all_gather", "all_reduce", "reduce_scatter", "permute_one", "permute_both", "permute_itself"],
)
def test_collectives_of_a_row(
    name: str, attributes: str, local: Any, expected: Any, version: str, row: ttnn.MeshDevice
) -> None:
    text = collective(name, attributes, (64, 128), (1, 2), local, version)
    given = values(1, (64, 128))
    (got,) = outputs(compiled(text, (1, 2), version), row, given)
    assert np.array_equal(got, np.concatenate(expected(np.split(given, 2, axis=1)), axis=1))


GROUPS = "replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"


def test_groups_of_a_two_dimensional_mesh() -> None:
    """Groups of chips, exchanges between rows, and slices, on 2x4."""
    given = values(2, (64, 128))
    parts = [np.split(rows, 4, axis=1) for rows in np.split(given, 2)]
    with mesh_of((2, 4), ttnn.FabricConfig.FABRIC_1D) as mesh:

        def got(name: str, attributes: str, local: Any = lambda shape: shape) -> Array:
            text = collective(name, attributes, (64, 128), (2, 4), local, dims=(0, 1))
            return outputs(compiled(text, (2, 4)), mesh, given)[0]

        exchange = f"split_dim = 0 : si32, concat_dim = 1 : si32, split_count = 4 : si32, {GROUPS}"
        exchanged = got("all_to_all", exchange, lambda shape: (shape[0] // 4, shape[1] * 4))
        slices = [[np.split(part, 4) for part in row] for row in parts]
        want = [np.concatenate([np.concatenate([s[c] for s in row], 1) for c in range(4)], 1) for row in slices]
        assert np.array_equal(exchanged, np.concatenate(want))

        sent = got("collective_broadcast", GROUPS)
        assert np.array_equal(sent, np.concatenate([np.concatenate([row[0]] * 4, 1) for row in parts]))

        # Chip 0 to chip 6: another row and column, on the way over chip 2.
        across = got("collective_permute", "source_target_pairs = dense<[[0, 6]]> : tensor<1x2xi64>")
        want_across = np.zeros_like(given)
        want_across[32:, 64:96] = given[:32, :32]
        assert np.array_equal(across, want_across)

        # Every chip has [32, 32] of its own; its slice is the one of its column.
        cut = got("mesh_partition", "dim = 0 : si32, cluster_axis = 1 : ui32", lambda shape: (shape[0] // 4, shape[1]))
        want_cut = [np.concatenate([np.split(part, 4)[c] for c, part in enumerate(row)], 1) for row in parts]
        assert np.array_equal(cut, np.concatenate(want_cut))


def test_collective_along_an_axis_of_one_chip_is_folded(row: ttnn.MeshDevice) -> None:
    text = collective("all_reduce", SUM.replace("= 1", "= 0"), (64, 128), (1, 2))
    program = compiled(text, (1, 2))
    assert not [call for call in program.calls if call.function == "ttnn.all_reduce"]
    assert np.array_equal(outputs(program, row, values(3, (64, 128)))[0], values(3, (64, 128)))


# Products whose operands are cut, and the same calls without the compiler.


def cut(mesh: ttnn.MeshDevice, given: Array, dim: int | None) -> ttnn.Tensor:
    placement = ttnn.PlacementReplicate() if dim is None else ttnn.PlacementShard(dim)
    mapper = ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), placement]))
    host = ttnn.distribute_tensor(ttnn.from_torch(given), mapper)
    return ttnn.to_layout(ttnn.to_device(host, mesh), ttnn.TILE_LAYOUT)


def joined(mesh: ttnn.MeshDevice, made: ttnn.Tensor, dim: int | None) -> Array:
    host = ttnn.from_device(ttnn.to_layout(made, ttnn.ROW_MAJOR_LAYOUT))
    if dim is None:
        assert same(by_chip(made)[:1] * 2, by_chip(made))
        return np.asarray(by_chip(made)[0], np.float32)
    composer = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig([1 - dim, dim]))
    return np.asarray(ttnn.to_numpy(ttnn.aggregate_tensor(host, composer)), np.float32)


def cuts(dim: int | None) -> tuple[tuple[int, ...], tuple[int, int]]:
    return ((-1, -1) if dim is None else (-1, dim)), (2 if dim == 0 else 1, 2 if dim == 1 else 1)


def entry(name: str, value: str, shape: tuple[int, ...], dim: int | None) -> tuple[str, str]:
    """Return the operation that cuts an argument, and a part's type."""
    dims, counts = cuts(dim)
    part = tensor(split(shape, counts))
    return (
        f'{name} = "ttir.mesh_shard"({value}) {shard(dims, counts, "full_to_shard")} : ({tensor(shape)}) -> {part}',
        part,
    )


def test_product_with_its_inner_dimension_on_two_chips(row: ttnn.MeshDevice) -> None:
    """The example of the compiler's documents, with fewer rows and columns."""
    a, b, c = (256, 784), (784, 512), (256, 512)
    (first, left), (second, right) = entry("%0", "%arg0", a, 1), entry("%1", "%arg1", b, 0)
    text = f"""func.func @main(%arg0: {tensor(a)}, %arg1: {tensor(b)}) -> {tensor(c)} {{
        {first}
        {second}
        %2 = "ttir.matmul"(%0, %1) : ({left}, {right}) -> {tensor(c)}
        %3 = "ttir.all_reduce"(%2) <{{{SUM}}}> : ({tensor(c)}) -> {tensor(c)}
        %4 = "ttir.mesh_shard"(%3) <{{{REPLICATED}, shard_direction = #ttcore.shard_direction<shard_to_full>}}>
            : ({tensor(c)}) -> {tensor(c)}
        return %4 : {tensor(c)}
    }}"""
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=a).astype(np.float32), rng.normal(size=b).astype(np.float32)
    (got,) = outputs(compiled(text, (1, 2)), row, x, y)
    direct = ttnn.all_reduce(ttnn.matmul(cut(row, x, 1), cut(row, y, 0)), cluster_axis=1)
    assert np.array_equal(got, joined(row, direct, None))
    assert np.corrcoef(got.ravel(), (x @ y).ravel())[0, 1] > 0.9995


#: For each sharding of an MLP: dimensions along which x, w1, w2 and the result are cut, and what is summed.
SHARDINGS = {
    "batch": (0, None, None, 0, ()),
    "input": (1, 0, None, None, ("h",)),
    "hidden": (None, 1, 0, None, ("y",)),
    "output": (None, None, 1, 1, ()),
}


@pytest.mark.parametrize("name", SHARDINGS)
def test_mlp_with_one_axis_on_two_chips(name: str, row: ttnn.MeshDevice) -> None:
    of_x, of_w1, of_w2, of_y, sums = SHARDINGS[name]
    shapes = {"x": (64, 128), "w1": (128, 256), "w2": (256, 64)}
    rng = np.random.default_rng(5)
    x, w1, w2 = (rng.normal(size=shape).astype(np.float32) for shape in shapes.values())
    entries = [
        entry(f"%{number}", f"%arg{number}", shape, dim)
        for number, (shape, dim) in enumerate(zip(shapes.values(), (of_x, of_w1, of_w2), strict=True))
    ]
    rows = 64 // cuts(of_x if of_x == 0 else None)[1][0]
    hidden = tensor((rows, 256 // cuts(of_w1 if of_w1 == 1 else None)[1][1]))
    out = tensor((rows, 64 // cuts(of_w2 if of_w2 == 1 else None)[1][1]))
    dims, counts = cuts(of_y)
    reduce = '%{0} = "ttir.all_reduce"(%{1}) <{{{2}}}> : ({3}) -> {3}'
    lines = [line for line, _ in entries]
    lines.append(f'%3 = "ttir.matmul"(%0, %1) : ({entries[0][1]}, {entries[1][1]}) -> {hidden}')
    lines.append(reduce.format(4, 3, SUM, hidden) if "h" in sums else "")
    value = "%4" if "h" in sums else "%3"
    lines.append(f'%5 = "ttir.relu"({value}) : ({hidden}) -> {hidden}')
    lines.append(f'%6 = "ttir.matmul"(%5, %2) : ({hidden}, {entries[2][1]}) -> {out}')
    lines.append(reduce.format(7, 6, SUM, out) if "y" in sums else "")
    value = "%7" if "y" in sums else "%6"
    lines.append(
        f'%8 = "ttir.mesh_shard"({value}) {shard(dims, counts, "shard_to_full")} : ({out}) -> {tensor((64, 64))}'
    )
    arguments = ", ".join(f"%arg{number}: {tensor(shape)}" for number, shape in enumerate(shapes.values()))
    body = "\n".join(lines)
    text = f"func.func @main({arguments}) -> {tensor((64, 64))} {{\n{body}\nreturn %8 : {tensor((64, 64))}\n}}"
    (got,) = outputs(compiled(text, (1, 2), options="enable-fusing-pass=false"), row, x, w1, w2)

    h = ttnn.matmul(cut(row, x, of_x), cut(row, w1, of_w1))
    h = ttnn.relu(ttnn.all_reduce(h, cluster_axis=1) if "h" in sums else h)
    y = ttnn.matmul(h, cut(row, w2, of_w2))
    y = ttnn.all_reduce(y, cluster_axis=1) if "y" in sums else y
    assert np.array_equal(got, joined(row, y, of_y))
    assert np.corrcoef(got.ravel(), (np.maximum(x @ w1, 0) @ w2).ravel())[0, 1] > 0.999


def test_emitted_source_of_a_mesh_program(row: ttnn.MeshDevice) -> None:
    text = collective("all_reduce", SUM, (64, 128), (1, 2))
    module = parse_module(text, "test.mlir")
    run(module, "ttir-to-emitpy-pipeline{target-module=true mesh-shape=1,2}")
    source = str(translate("mlir-to-python", print_module(module)))
    assert "ttnn.create_mesh_mapper(" in source
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(source, "emitted.py", "exec"), names)
    given = values(6, (64, 128))
    (made,) = names["forward"]([ttnn.from_torch(given)], row)
    assert np.array_equal(np.asarray(ttnn.to_numpy(made), np.float32), outputs(compiled(text, (1, 2)), row, given)[0])


@VERSIONS
def test_emitted_module_opens_its_mesh(version: str) -> None:
    pairs = "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"
    module = parse_module(
        collective("collective_permute", pairs, (64, 128), (1, 2), version=version),
        "test.mlir",
        default_version=version,
    )
    run(module, "ttir-to-emitpy-pipeline{mesh-shape=1,2}")
    names: dict[str, Any] = {"__name__": "emitted"}
    exec(compile(str(translate("mlir-to-python", print_module(module))), "emitted.py", "exec"), names)
    assert names["main"]() == 0
    assert ttnn.get_fabric_config() == ttnn.FabricConfig.DISABLED


@pytest.mark.parametrize(
    ("name", "attributes", "message"),
    [
        ("collective_permute", "source_target_pairs = dense<[[0, 2]]> : tensor<1x2xi64>", "chip 2 is not in the mesh"),
        ("collective_broadcast", "replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>", "chip 2 is not in the mesh"),
    ],
)
def test_chip_outside_of_the_mesh_is_refused(name: str, attributes: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        compiled(collective(name, attributes, (64, 128), (1, 2)), (1, 2))


def test_mesh_of_another_shape_is_refused(row: ttnn.MeshDevice) -> None:
    program = compiled(collective("all_reduce", SUM, (64, 128), (1, 4)), (1, 4))
    with pytest.raises(ParameterError, match="runs on a mesh of 1x4, got one of 1x2"):
        outputs(program, row, values(7, (64, 128)))


def test_mesh_of_a_module_must_be_that_of_the_option() -> None:
    meshes = '#ttcore.meshes<[<"mesh" = 2x4>]>'
    function = collective("all_reduce", SUM, (64, 128), (1, 2))
    with pytest.raises(CompileError, match="the module has a mesh of 2x4, mesh-shape is 1x2"):
        compiled(f"module attributes {{ttcore.meshes = {meshes}}} {{ {function} }}", (1, 2))


def test_topology_of_the_mesh_becomes_that_of_collectives() -> None:
    module = parse_module(collective("all_reduce", SUM, (64, 128), (1, 2)), "test.mlir")
    run(module, "ttir-to-ttnn-backend-pipeline{mesh-shape=1,2 mesh-topology=ring,linear}")
    found = [op for op in module.op.walk() if op.name == "ttnn.all_reduce"]
    # Entries name rows first, so the second axis has the first of them.
    assert [str(op.properties["topology"]) for op in found] == ["#ttcore.topology<ring>"]

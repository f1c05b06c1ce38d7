"""Reading and writing of binaries, and what happens to damaged ones."""

from __future__ import annotations

import json
import os
import random
import struct
import time
from pathlib import Path
from typing import Any

import flatbuffers
import pytest

from testkit.ttir_examples import EXAMPLES
from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.programs import programs
from ttnn.compiler.conversion.ttnn_to_flatbuffer.translate import ttnn_to_binary
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.pipelines import run
from ttnn.compiler.target.flatbuffer import system_desc
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.flatbuffer.reader import Reader
from ttnn.compiler.target.flatbuffer.schema import Enum, Root, Scalar, Schema, String, Table, Union, Vector
from ttnn.compiler.target.flatbuffer.writer import write
from ttnn.compiler.version import VERSIONS
from ttnn.compiler.versions import parse_module

LONG = os.environ.get("TTNN_LONG_FUZZ") == "1"
MUTANTS = 200_000 if LONG else 3_000


def _memory(data_type: str = "BFloat16") -> dict[str, Any]:
    return {
        "shape": [2, 3],
        "tile_shape": {"y": 1, "x": 1},
        "data_type": data_type,
        "memory_space": "System",
        "memory_layout": "None",
        "size": 12,
    }


def _tensor(number: int) -> dict[str, Any]:
    core = {"loc": {"y": 0, "x": 0}, "size": {"y": 1, "x": 1}}
    layout = {"stride": [3, 1], "oob_val": "Undef", "core_range_set": [core], "memory_desc": _memory()}
    return {"global_id": number, "address": 0, "size": 12, "desc": {"shape": [2, 3], "layout": layout}}


def two_operations() -> Binary:
    first, second = _tensor(1), _tensor(2)
    operations = [
        {"type_type": "EltwiseOp", "type": {"type": "Neg", "ins": [first], "out": second}, "debug_info": "neg"},
        {
            "type_type": "SoftmaxOp",
            "type": {"in": second, "out": second, "dimension": -1},
            "debug_info": "softmax é",
        },
    ]
    program = {"name": "main", "inputs": [first], "outputs": [second], "operations": operations}
    values = {
        "version": {"major": 0, "minor": 1, "patch": 70_000},
        "ttmlir_git_hash": "abc",
        "system_desc": system_desc.to_table(SystemDesc.default(), "2024-09"),
        "programs": [program],
    }
    return Binary("TTNN", "2024-09", values)


def test_binaries_round_trip() -> None:
    data = two_operations().to_bytes()
    read = Binary.parse(data)
    assert (read.identifier, read.language, read.version) == ("TTNN", "2024-09", "0.1.70000")
    (program,) = read.values["programs"]
    neg, softmax = program["operations"]
    assert neg["type"]["out"] is softmax["type"]["in"] is program["outputs"][0]
    assert softmax["debug_info"] == "softmax é"
    assert softmax["type"]["dimension"] == -1
    assert program["inputs"][0] == _tensor(1)
    assert read.to_bytes() == data


def test_bytes_equal_those_of_the_flatbuffers_runtime() -> None:
    """The root, found with the runtime alone, by public schema ids."""
    data = two_operations().to_bytes()
    assert struct.unpack_from("<I", data)[0] == len(data) - 4
    assert data[8:12] == b"TTNN"
    body = data[4:]
    root = flatbuffers.table.Table(bytearray(body), flatbuffers.encode.Get(flatbuffers.packer.uoffset, body, 0))
    version = root.Pos + root.Offset(4)
    assert struct.unpack_from("<HHI", body, version) == (0, 1, 70_000)
    programs = root.Vector(root.Offset(10))
    assert root.VectorLen(root.Offset(10)) == 1
    program = flatbuffers.table.Table(bytearray(body), root.Indirect(programs))
    assert program.String(program.Pos + program.Offset(4)) == b"main"
    operations = flatbuffers.table.Table(bytearray(body), program.Indirect(program.Vector(program.Offset(10))))
    # EltwiseOp is the eighth member of its union.
    assert operations.Get(flatbuffers.number_types.Uint8Flags, operations.Pos + operations.Offset(4)) == 8


def test_json_names_fields_and_enumerators() -> None:
    values = json.loads(two_operations().as_json())
    operation = values["programs"][0]["operations"][0]
    assert operation["type_type"] == "EltwiseOp"
    assert operation["type"]["type"] == "Neg"
    (chip,) = values["system_desc"]["chip_descs"]
    assert chip["arch"] == "Wormhole_b0"
    assert chip["supported_data_types"][:2] == ["Float32", "Float16"]


def test_json_has_defaults_and_floats_as_flatc_prints_them() -> None:
    values = json.loads(Binary.parse(two_operations().to_bytes()).as_json())
    assert values["system_desc"]["chip_capabilities"] == ["PCIE HostMMIO"]
    assert values["programs"][0]["inputs"][0]["address"] == 0
    assert "debug_info" not in values["programs"][0]


def test_json_of_exponential_tables_is_refused() -> None:
    text = {"name": "x" * 1000, "source": "y" * 200_000}
    many = [{"name": "p", "debug_info": {"mlir": text}, "operations": []}] * 1000
    binary = Binary("TTNN", "2024-09", {"programs": many})
    assert len(binary.to_bytes()) < 300_000
    with pytest.raises(FileFormatError, match="more than 20000000 values"):
        binary.as_json()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("chips", [1, 2])
@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_system_descriptors_of_all_versions(version: str, chips: int, arch: str) -> None:
    system = SystemDesc.for_arch(arch, chips)
    binary = Binary.parse(system_desc.make_binary(system, "0.1.2", version).to_bytes())
    assert (binary.identifier, binary.language, binary.version) == ("TTSY", version, "0.1.2")
    read = system_desc.from_table(binary.values["system_desc"])
    lost = {"2024-09": ("num_cbs",)}.get(version, ("eth", "capabilities"))
    assert all(any(f"{name}" in line for name in lost) for line in read.differences(system))
    assert system_desc.to_table(read, version) == system_desc.to_table(system, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_table_of_every_version_is_written_and_read(version: str) -> None:
    """Each table with all number and text fields, through its root."""
    counter = iter(range(1, 10_000_000))

    def some(kind: object) -> Any:
        if isinstance(kind, Scalar):
            number = next(counter) % 100 + 1
            return True if kind.code == "?" else float(number) if kind.code in "fd" else number
        if isinstance(kind, Enum):
            return list(kind.values)[next(counter) % len(kind.values)]
        if isinstance(kind, String):
            return f"text {next(counter)}"
        if isinstance(kind, Vector) and isinstance(kind.element, Scalar | Enum | String):
            values = [some(kind.element) for _ in range(3)]
            return bytes(values) if isinstance(kind.element, Scalar) and kind.element.code == "B" else values
        return None

    tables = [kind for kind in Schema.load(version).types.values() if isinstance(kind, Table)]
    assert len(tables) > 50
    for table in tables:
        values = {field.name: some(field.type) for field in table.fields}
        values = {name: value for name, value in values.items() if value is not None}
        data = write(Root(table, "TEST", ".test"), values)
        read = Reader(data, "table").root(Root(table, "TEST", ".test"))
        assert {name: read[name] for name in values} == values, table.name


def test_unions_occupy_two_field_ids() -> None:
    operation = Schema.load("2024-09").types["tt.target.ttnn.Operation"]
    assert isinstance(operation, Table)
    assert [(field.name, field.id) for field in operation.fields] == [("type", 1), ("debug_info", 2)]
    union = operation.fields[0].type
    assert isinstance(union, Union)
    names = (
        "GetDevice ToMemoryConfig ToLayout ToDevice FromDevice Empty Full Eltwise Matmul Reduction Embedding Softmax"
    )
    names += " Transpose Conv2d Concat Reshape MaxPool2d Dealloc"
    assert [name for name, _ in union.members] == [f"{name}Op" for name in names.split()]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"programs": [{"nam": "x"}]}, "TTNNBinary.programs[0]: tt.target.ttnn.Program has no field nam"),
        ({"ttmlir_git_hash": 3}, "TTNNBinary.ttmlir_git_hash: text is expected, got 3"),
        ({"version": {"major": 70_000, "minor": 0, "patch": 0}}, "version.major: a value of type uint16 is expected"),
        ({"version": {"major": 1}}, "version.minor: missing"),
        ({"programs": [{"inputs": [{"global_id": -1}]}]}, "global_id: a value of type uint32 is expected, got -1"),
        ({"programs": [{"operations": [{"type_type": "NoOp", "type": {}}]}]}, "OpType has no member NoOp"),
        (
            {"programs": [{"operations": [{"type_type": "EltwiseOp", "type": {"type": "Sub"}}]}]},
            "EltwiseOpType has no value Sub",
        ),
    ],
)
def test_values_outside_their_field_type_raise(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        Binary("TTNN", "2024-09", values).to_bytes()
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "at least 12 bytes, this file has 0"),
        (b"\0" * 100, "the size prefix promises 0 bytes after it, the file has 96"),
        (struct.pack("<I", 96) + b"\0" * 96, "file identifier '\\x00\\x00\\x00\\x00'"),
        (struct.pack("<II4s", 16, 1000, b"TTNN") + b"\0" * 8, "an offset leads to byte 1004 of 20"),
    ],
)
def test_files_that_are_not_binaries_raise(data: bytes, sentence: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        Binary.parse(data, "a.ttnn")
    assert "a.ttnn: " in str(caught.value)
    assert sentence in str(caught.value)


def test_missing_file_raises() -> None:
    with pytest.raises(FileFormatError, match=r"nowhere\.ttnn: No such file"):
        Binary.load("nowhere.ttnn")


def test_overlapping_vectors_are_refused_before_they_are_read() -> None:
    """A small file whose vectors all share the same bytes describes gigabytes."""
    many = [{"name": f"{index}", "inputs": []} for index in range(200)]
    data = bytearray(Binary("TTNN", "2024-09", {"programs": many}).to_bytes())
    # Each vector of inputs claims all that follows it.
    for position in range(0, len(data) - 4):
        if data[position : position + 4] == b"\0\0\0\0" and position % 4 == 0:
            struct.pack_into("<I", data, position, (len(data) - position - 4) // 4)
    with pytest.raises(FileFormatError):
        Binary.parse(bytes(data))


def test_exponential_tables_are_refused_before_they_are_read() -> None:
    """A million programs, operations and operands in 40 kilobytes."""
    tensor = _tensor(1)
    operation = {"type_type": "EltwiseOp", "type": {"type": "Neg", "ins": [tensor] * 1000, "out": tensor}}
    program = {"name": "p", "inputs": [tensor] * 1000, "operations": [operation] * 1000}
    data = Binary("TTNN", "2024-09", {"programs": [program] * 1000}).to_bytes()
    assert len(data) < 40_000
    begin = time.process_time()
    with pytest.raises(FileFormatError, match="with its shared tables written out"):
        Binary.parse(data)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("count", "grid"),
    [(2_000, (8, 8)), (1, (60_000, 60_000)), (1, (2_000_000_000, 0)), (1, (2_000_000_000, -1)), (1, (-1, -1))],
)
def test_implausible_system_descriptors_are_refused(count: int, grid: tuple[int, int]) -> None:
    table = system_desc.to_table(SystemDesc.default(), "2026-08")
    table["chip_descs"] = [table["chip_descs"][0] | {"grid_size": dict(zip("yx", grid, strict=True))}] * count
    with pytest.raises(FileFormatError, match=r"at most 1024|1 to 1024 are possible"):
        system_desc.from_table(table)


def test_file_with_wrong_length_prefix_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ttnn"
    data = two_operations().to_bytes()
    path.write_bytes(data)
    assert Binary.load(path).to_bytes() == data
    with path.open("r+b") as file:
        file.truncate(1 << 38)
    with pytest.raises(FileFormatError, match="size prefix promises"):
        Binary.load(path)
    for name in ("/dev/zero", str(tmp_path), f"{tmp_path}/a\0b"):
        with pytest.raises(FileFormatError):
            Binary.load(name)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("tt.target.ttnn.GenericOp", {"io_tensors": 0, "additional_args": 2, "program": 4}),
        ("tt.target.metal.EnqueueProgramCommand", {"arg_refs": 1, "cbs": 2, "program": 3}),
    ],
)
def test_vectors_of_unions_have_two_fields(name: str, wanted: dict[str, int]) -> None:
    table = Schema.load("2026-08").types[name]
    assert isinstance(table, Table)
    assert {one: table.by_name[one].id for one in wanted} == wanted


def test_vectors_of_unions_round_trip() -> None:
    schema = Schema.load("2026-08")
    table = schema.types["tt.target.ttnn.GenericOp"]
    assert isinstance(table, Table)
    root = Root(table, "TEST", ".test")
    values = {
        "additional_args_type": ["GlobalSemaphoreRef", "TensorRef"],
        "additional_args": [{"global_id": 7}, {"global_id": 8}],
    }
    data = write(root, values)
    found = Reader(data, "a.test").root(root)
    assert found["additional_args_type"] == values["additional_args_type"]
    assert [one["global_id"] for one in found["additional_args"]] == [7, 8]
    # The numbers of the members are bytes; a third member does not exist, and none is number zero.
    place = data.index(bytes([2, 0, 0, 0, 2, 1])) + 4
    for number in (0, 3):
        with pytest.raises(FileFormatError, match=f"member {number} of 2"):
            Reader(data[:place] + bytes([number]) + data[place + 1 :], "a.test").root(root)
    with pytest.raises(FileFormatError, match="1 members of unions for 2 values"):
        write(root, values | {"additional_args_type": ["TensorRef"]})


def lowered_binaries() -> list[bytes]:
    made = []
    for name in ("add", "conv_transpose2d", "linear", "sort", "topk", "update_cache"):
        module = parse_module(EXAMPLES[name])
        run(module, "ttir-to-ttnn-backend-pipeline")
        made.append(ttnn_to_binary(module, "1.0.0").to_bytes())
    return made


@pytest.mark.timeout(3600 if LONG else 600)
def test_mutated_binaries_are_read_or_refused() -> None:
    """Mutated bytes: each is read as calls, or is one error.

    Changed, cut, repeated or exchanged.
    """
    sources = [two_operations().to_bytes(), *lowered_binaries()]
    sources += [system_desc.make_binary(SystemDesc.for_arch("wormhole_b0", 2), "1.0.0", e).to_bytes() for e in VERSIONS]
    chance = random.Random(26)
    refused = 0
    for number in range(MUTANTS):
        data = bytearray(chance.choice(sources))
        for _ in range(chance.choice([1, 1, 2, 8])):
            place = chance.randrange(len(data))
            kind = chance.randrange(7)
            if kind == 5 and place + 4 <= len(data):
                # An offset to what another one leads to: tables and vectors that share each other.
                other = chance.randrange(place, len(data)) & ~3
                struct.pack_into("<I", data, place & ~3, max(other - (place & ~3), 0))
            elif kind == 6 and place + 8 <= len(data):
                # A vector whose elements are all the same.
                start, count = place & ~3, chance.choice([2, 16, 256])
                target = start + 4 * count + 4
                offsets = [target - (start + 4 + 4 * index) for index in range(count)]
                data[start : start + 4] = struct.pack(f"<{count + 1}I", count, *offsets)
            elif kind == 0:
                data[place] = chance.randrange(256)
            elif kind == 1:
                data[place] ^= 1 << chance.randrange(8)
            elif kind == 2 and place + 4 <= len(data):
                struct.pack_into("<I", data, place, chance.choice([0, 1, 0xFFFFFFFF, 0x7FFFFFFF, len(data), 0x10000]))
            elif kind == 3:
                del data[place : place + chance.randrange(1, 64)]
            else:
                data[place:place] = data[place : place + chance.randrange(1, 64)]
        if len(data) >= 4 and chance.random() < 0.8:
            struct.pack_into("<I", data, 0, len(data) - 4)
        begin = time.process_time()
        try:
            binary = Binary.parse(bytes(data), f"mutant {number}")
            binary.as_json()
            if binary.values.get("system_desc"):
                system_desc.from_table(binary.values["system_desc"])
            if binary.identifier == "TTNN":
                programs(binary)
        except (FileFormatError, UnsupportedError):
            refused += 1
        assert time.process_time() - begin < 5, number
    assert MUTANTS // 10 < refused < MUTANTS

"""Rank bindings: the processes of a mesh, and their environments.

They are read from the YAML files of `tt-run`, or made from the hosts of mesh graph descriptors. The files come from
elsewhere: they are read within limits, and what is not as it has to be is a `FileFormatError`.

Source: `ttnn/distributed/ttrun.py` of 0.81.1 (keys, variables).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError
from ttnn.base.files import read_text
from ttnn.base.yaml_text import parse_yaml

MAX_RANKS: Final = 1024
"""Processes of a job, at most."""
_MAX_BYTES: Final = 4 << 20
_CODE: Final = re.compile(
    # Of the dynamic linker, the shell, interpreters, and MPI with its run time.
    r"LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|PATH|SHELL|BASH_.*|ENV|IFS|PYTHON.*|VIRTUAL_ENV|CONDA_.*"
    r"|(OMPI|OPAL|ORTE|PMIX|PRTE|PMI|MPI|MPI4PY|SLURM)_.*|HOME|USER|TMPDIR|XDG_.*"
    # Compilers, and folders and files with code or settings that choose code.
    r"|C?CFLAGS|CXX|CC|CXXFLAGS|CPATH|.*_?INCLUDE_PATH|COMPILER_PATH|GCC_.*|ZIG_.*|.*_PRELOAD|.*_PLUGINS?"
    r"|TTNN_(CXX|CONFIG_PATH|CONFIG_OVERRIDES|OPERATION_TRACE_DIR|OFFICIAL_WHEEL)"
    r"|(TT|TTNN|ARCH|WH|MESH)_.*(HOME|CACHE|DIR|ROOT|FOLDER|LIBRARY|KERNEL_PATH|RUNTIME|TOOLCHAIN|COMPILER)(_.*)?"
)
"""Variables that choose code, or where it is."""


@dataclass(frozen=True)
class Binding:
    """One process.

    Attributes:
        mesh: Number of its mesh.
        host: Number of its box in the mesh.
        graph: Mesh graph descriptor.
        environment: Variables of this process.
        subcontext: Number of its sub-context, if there are several.
        cluster: Cluster descriptor.
    """

    mesh: int = 0
    host: int | None = None
    graph: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    subcontext: int | None = None
    cluster: Path | None = None


def _fail(path: Path, what: str) -> FileFormatError:
    return FileFormatError(f"ttnn-run: {path}: {what}")


def _mapping(path: Path) -> dict[Any, Any]:
    where = f"ttnn-run: {path}"
    value = parse_yaml(read_text(path, where="ttnn-run", limit=_MAX_BYTES), where)
    if not isinstance(value, dict):
        raise _fail(path, "expected keys with values")
    return value


def find(name: str, *, near: Path | None = None) -> Path:
    """Return the path of a file.

    Its name is relative to the launch directory, TT_METAL_HOME, or another file.

    Raises:
        FileFormatError: there is no such file.
    """
    path = Path(os.path.expanduser(os.path.expandvars(name)))
    home = os.environ.get("TT_METAL_HOME")
    folders = [Path.cwd(), *([Path(home)] if home else []), *([near.parent] if near else [])]
    for folder in folders:
        if os.path.isfile(folder / path):
            return (folder / path).resolve()
    raise FileFormatError(f"ttnn-run: there is no file {name:.200}; looked in {', '.join(map(str, folders))}")


def _variables(path: Path, where: str, values: object) -> dict[str, str]:
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise _fail(path, f"{where}: expected names of variables with values")
    for name, value in values.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise _fail(path, f"{where}: {name!r:.40} is no name of a variable")
        if _CODE.fullmatch(name.upper()):
            raise _fail(
                path, f"{where}: {name:.40} chooses the code that runs; set it in the shell that calls ttnn-run"
            )
        if isinstance(value, dict | list) or value is None:
            raise _fail(path, f"{where}: expected texts as values")
    # Texts without quotes that look like numbers were read as such.
    return {name: os.path.expandvars(str(value)) for name, value in values.items()}


def _as_number(key: object) -> object:
    """Return a key of a few digits as number; others as text."""
    text = key[:8] if isinstance(key, str) else str(key)[:8] if isinstance(key, int) and 0 <= key < 10**8 else "?"
    return int(text) if text.isascii() and text.isdecimal() else text


def _number(path: Path, where: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MAX_RANKS:
        raise _fail(path, f"{where}: expected a number from 0 to {MAX_RANKS - 1}, got {value!r:.40}")
    return value


def read_bindings(name: str, *, near: Path | None = None) -> list[Binding]:
    """Read a file with `rank_bindings`, `global_env` and `mesh_graph_desc_path`.

    Raises:
        FileFormatError: it is no such file.
    """
    path = find(name, near=near)
    content = _mapping(path)
    rows, graph = content.get("rank_bindings"), content.get("mesh_graph_desc_path")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_RANKS or not all(isinstance(row, dict) for row in rows):
        raise _fail(path, f"rank_bindings: expected a list of 1 to {MAX_RANKS} ranks")
    if not isinstance(graph, str):
        raise _fail(path, "mesh_graph_desc_path: expected the path of a mesh graph descriptor")
    graph_path, common = find(graph, near=path), _variables(path, "global_env", content.get("global_env"))
    bindings: dict[int, Binding] = {}
    for index, row in enumerate(rows):
        where = f"rank_bindings[{index}]"
        rank, host = _number(path, f"{where}.rank", row.get("rank")), row.get("mesh_host_rank")
        if rank in bindings:
            raise _fail(path, f"{where}.rank: {rank} is there twice")
        bindings[rank] = Binding(
            mesh=_number(path, f"{where}.mesh_id", row.get("mesh_id")),
            host=None if host is None else _number(path, f"{where}.mesh_host_rank", host),
            graph=graph_path,
            environment={**common, **_variables(path, f"{where}.env_overrides", row.get("env_overrides"))},
        )
    if sorted(bindings) != list(range(len(bindings))):
        raise _fail(path, f"rank_bindings: ranks must be 0 to {len(bindings) - 1}, got {sorted(bindings)}")
    return [bindings[rank] for rank in range(len(bindings))]


def _by_subcontext(path: Path, key: str) -> list[str]:
    """Return the files that a mapping names, one for each sub-context."""
    files = _mapping(path).get(key)
    if not isinstance(files, dict) or not files or not all(isinstance(file, str) for file in files.values()):
        raise _fail(path, f"{key}: expected numbers of sub-contexts with paths")
    numbers = [_as_number(number) for number in files]
    if numbers != list(range(len(files))):
        raise _fail(path, f"{key}: sub-contexts must be 0 to {len(files) - 1} in order, got {numbers}")
    return list(files.values())


def _check_count(path: Path, count: int) -> None:
    if count > MAX_RANKS:
        raise _fail(path, f"{count} ranks, at most {MAX_RANKS} are possible")


def _joined(path: Path, parts: Iterable[list[Binding]]) -> list[Binding]:
    """Return the ranks of sub-contexts one after another.

    Files that make too many are not read to their end.
    """
    read: list[list[Binding]] = []
    for part in parts:
        read.append(part)
        _check_count(path, sum(map(len, read)))
    return _numbered(read)


def _numbered(parts: Sequence[list[Binding]]) -> list[Binding]:
    sizes = ",".join(str(len(part)) for part in parts)
    return [
        replace(each, subcontext=number, environment={**each.environment, "TT_RUN_SUBCONTEXT_SIZES": sizes})
        for number, part in enumerate(parts)
        for each in part
    ]


def read_bindings_mapping(name: str) -> list[Binding]:
    """Read a file with `subcontext_id_to_rank_bindings`.

    Raises:
        FileFormatError: it is no such file.
    """
    path = find(name)
    files = _by_subcontext(path, "subcontext_id_to_rank_bindings")
    return _joined(path, (read_bindings(file, near=path) for file in files))


def bindings_of_graph(name: str, *, near: Path | None = None) -> list[Binding]:
    """Return a rank for each host of a mesh graph descriptor's meshes.

    Raises:
        FileFormatError: it is no mesh graph descriptor.
    """
    # The only part of this command that needs more than a few modules.
    from ttnn.device.mesh_graph import read_mesh_graph

    path = find(name, near=near)
    meshes = read_mesh_graph(path).meshes
    _check_count(path, sum(math.prod(mesh.hosts) for mesh in meshes.values()))
    return [
        Binding(mesh=number, host=host, graph=path)
        for number, mesh in sorted(meshes.items())
        for host in range(math.prod(mesh.hosts))
    ]


def bindings_of_graph_mapping(name: str) -> list[Binding]:
    """Read a file with `subcontext_id_to_mesh_graph_descriptor`.

    Raises:
        FileFormatError: it is no such file.
    """
    path = find(name)
    files = _by_subcontext(path, "subcontext_id_to_mesh_graph_descriptor")
    return _joined(path, (bindings_of_graph(file, near=path) for file in files))


def with_clusters(bindings: Sequence[Binding], name: str) -> list[Binding]:
    """Return bindings with the cluster descriptors of a mock cluster file.

    It has `rank_to_cluster_mock_cluster_desc`, or is itself the descriptor of rank 0.

    Raises:
        FileFormatError: the file has other ranks.
    """
    path = find(name)
    rows = _mapping(path).get("rank_to_cluster_mock_cluster_desc", {0: str(path)})
    if not isinstance(rows, dict) or not all(isinstance(file, str) for file in rows.values()):
        raise _fail(path, "rank_to_cluster_mock_cluster_desc: expected ranks with paths")
    ranks = [_as_number(rank) for rank in rows]
    if sorted(map(str, ranks)) != sorted(map(str, range(len(bindings)))):
        raise _fail(path, f"rank_to_cluster_mock_cluster_desc: expected ranks 0 to {len(bindings) - 1}, got {ranks}")
    files = {int(rank): find(file, near=path) for rank, file in rows.items()}
    return [replace(each, cluster=files[rank]) for rank, each in enumerate(bindings)]

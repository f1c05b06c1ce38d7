"""`ttnn-run`: starts a program as several processes.

It has the options of the official `tt-run`, and becomes mpirun.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ttnn.base.exceptions import FileFormatError, TtnnError
from ttnn_run.bindings import (
    MAX_RANKS,
    Binding,
    bindings_of_graph,
    bindings_of_graph_mapping,
    read_bindings,
    read_bindings_mapping,
    with_clusters,
)

_PASSED: Final = ("TT_", "TTNN_", "ARCH_", "WH_", "MESH_", "RELIABILITY_MODE")
"""Beginnings of variables that all processes get."""
_OWN: Final = {
    "TT_MESH_ID",
    "TT_MESH_HOST_RANK",
    "TT_MESH_GRAPH_DESC_PATH",
    "TT_METAL_MOCK_CLUSTER_DESC_PATH",
    "TT_RUN_ORIGINAL_CWD",
    "TT_RUN_RANK",
    "TT_RUN_SUBCONTEXT_ID",
    "TT_RUN_SUBCONTEXT_SIZES",
    "TT_VISIBLE_DEVICES",
}
"""Variables that bindings set for each process."""
_ALSO: Final = ("HOME", "USER", "PATH", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")
_REFUSED: Final = ("--debug-gdbserver", "--tracy", "--factory-system-descriptor")
_WITH_VALUE: Final = ("-W", "-X")
"""Options of Python that have a value of their own."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ttnn-run",
        description="Start a program as several processes with mpirun. Each one owns a box of whole chips of the mesh.",
        allow_abbrev=False,
    )
    ranks = parser.add_argument_group("processes (one of these)").add_mutually_exclusive_group(required=True)
    ranks.add_argument("-n", "--np", type=int, metavar="N", help="so many; the mesh is divided into equal boxes")
    ranks.add_argument("--rank-binding", metavar="YAML", help="file with rank_bindings and mesh_graph_desc_path")
    ranks.add_argument("--rank-bindings-mapping", metavar="YAML", help="file with a rank binding file per sub-context")
    ranks.add_argument("-m", "--mesh-graph-descriptor", metavar="TEXTPROTO", help="one for each host of its meshes")
    ranks.add_argument("-M", "--mesh-graph-descriptor-mapping", metavar="YAML", help="file with one per sub-context")
    add = parser.add_argument
    add("--system", metavar="NAME", help="the system of chips, as TTNN_SYSTEM")
    add("--hosts", metavar="HOST,HOST", help="where processes run; default: this host")
    add("--mock-cluster-rank-binding", metavar="YAML", help="file with a cluster descriptor per rank")
    add(
        "--mpi-args", metavar="ARGUMENTS", type=shlex.split, default=[], help="further arguments of mpirun, as one text"
    )
    add("--tcp-interface", metavar="NAME", help="network interface between hosts")
    add("--bare", action="store_true", help="no settings for several hosts")
    add("--dry-run", action="store_true", help="print the command of mpirun, and do not run it")
    add("-v", "--verbose", action="store_true", help="print the command of mpirun before it runs")
    add("--skip-executable-check", action="store_true", help="do not look for the program on this host")
    add("--force-rediscovery", action="store_true", help="no effect: bindings are made anew each time")
    add("--skip-mgd-check", action="store_true", help="no effect: descriptors are always read")
    for name in _REFUSED:
        add(name, nargs="?", const="", help=argparse.SUPPRESS)
    add("program", nargs=argparse.REMAINDER, help="script.py, python, pytest or another program, with its arguments")
    return parser


def python_program(program: Sequence[str]) -> list[str]:
    """Return the command of a program, Python scripts by way of `-m mpi4py`.

    With it an exception of one process ends all of them.
    """
    first, rest = program[0], list(program[1:])
    name = Path(first).name
    if name.endswith(".py"):
        return [sys.executable, "-m", "mpi4py", *program]
    if name == "pytest":
        return [sys.executable, "-m", "mpi4py", "-m", name, *rest]
    if not name.startswith("python") or name.removeprefix("python").strip("0123456789."):
        return list(program)
    options = 0
    while options < len(rest) and rest[options].startswith("-") and rest[options][:2] not in ("-m", "-c"):
        options += 2 if rest[options] in _WITH_VALUE else 1
    if rest[options : options + 2] == ["-m", "mpi4py"]:
        return list(program)
    return [first, *rest[:options], "-m", "mpi4py", *rest[options:]]


def environment_of(binding: Binding, rank: int, system: str | None) -> dict[str, str]:
    """Return the variables that a process gets."""
    passed = {name: value for name, value in os.environ.items() if name.startswith(_PASSED) and name not in _OWN}
    passed.update({name: os.environ[name] for name in _ALSO if os.environ.get(name)})
    passed.update({"TT_RUN_RANK": str(rank), "TT_RUN_ORIGINAL_CWD": str(Path.cwd()), "TT_MESH_ID": str(binding.mesh)})
    for name, value in (
        ("TTNN_SYSTEM", system),
        ("TT_MESH_HOST_RANK", binding.host),
        ("TT_MESH_GRAPH_DESC_PATH", binding.graph),
        ("TT_RUN_SUBCONTEXT_ID", binding.subcontext),
        ("TT_METAL_MOCK_CLUSTER_DESC_PATH", binding.cluster),
    ):
        if value is not None:
            passed[name] = str(value)
    return {**passed, **binding.environment}


def mpi_command(bindings: Sequence[Binding], options: argparse.Namespace) -> list[str]:
    """Return the command of mpirun."""
    arguments: list[str] = list(options.mpi_args)
    command = ["mpirun", "--bind-to", "none"] if "--bind-to" not in arguments else ["mpirun"]
    hosts = [host for host in (options.hosts or "").split(",") if host]
    if hosts:
        slots = -(-len(bindings) // len(hosts))
        command += ["--host", ",".join(f"{host}:{slots}" for host in hosts), "--tag-output"]
        if not options.bare:
            interface = ["btl_tcp_if_include", options.tcp_interface] if options.tcp_interface else []
            command += ["--mca", "btl", "self,vader,tcp", "--mca", *(interface or ["btl_tcp_if_exclude", "docker0,lo"])]
    elif "--oversubscribe" not in arguments:
        command.append("--oversubscribe")
    command += arguments
    program = python_program(options.program)
    for rank, binding in enumerate(bindings):
        command += [":"] if rank else []
        command += ["-np", "1"]
        for name, value in environment_of(binding, rank, options.system).items():
            command += ["-x", f"{name}={value}"]
        command += program
    return command


def _bindings(options: argparse.Namespace) -> list[Binding]:
    if options.np is not None:
        # Without a descriptor of their own they have that of the environment.
        graph = os.environ.get("TT_MESH_GRAPH_DESC_PATH")
        bindings = [Binding(host=rank, graph=Path(graph) if graph else None) for rank in range(options.np)]
        cluster = os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH")
        bindings = [replace(each, cluster=Path(cluster)) for each in bindings] if cluster else bindings
    elif options.rank_binding is not None:
        bindings = read_bindings(options.rank_binding)
    elif options.rank_bindings_mapping is not None:
        bindings = read_bindings_mapping(options.rank_bindings_mapping)
    elif options.mesh_graph_descriptor is not None:
        bindings = bindings_of_graph(options.mesh_graph_descriptor)
    else:
        bindings = bindings_of_graph_mapping(options.mesh_graph_descriptor_mapping)
    if len(bindings) > MAX_RANKS:
        raise FileFormatError(f"ttnn-run: {len(bindings)} ranks, at most {MAX_RANKS} are possible")
    name = options.mock_cluster_rank_binding
    return with_clusters(bindings, name) if name is not None else bindings


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code without mpirun."""
    parser = _parser()
    options = parser.parse_args(list(arguments))
    for name in _REFUSED:
        if getattr(options, name.strip("-").replace("-", "_")) is not None:
            parser.error(f"{name} is not modelled")
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program or not options.program[0]:
        parser.error("expected a program")
    if ":" in options.program:
        parser.error("':' begins another program of mpirun; it cannot be an argument")
    if options.np is not None and not 1 <= options.np <= MAX_RANKS:
        parser.error(f"-n: expected a number from 1 to {MAX_RANKS}, got {options.np}")
    try:
        command = mpi_command(_bindings(options), options)
    except TtnnError as error:
        print(error, file=sys.stderr)
        return 2
    if options.dry_run or options.verbose:
        print(shlex.join(command), flush=True)
    return 0 if options.dry_run else _start(command, options)


def _start(command: list[str], options: argparse.Namespace) -> int:
    """Become mpirun; return an exit code if that is not possible."""
    found = shutil.which(command[0])
    script = next((word for word in options.program if word.endswith(".py")), options.program[0])
    program = options.skip_executable_check or os.path.exists(script) or shutil.which(script) is not None
    if found is not None and program:
        os.execv(found, command)
    lack = f"no program {script}" if found else "no mpirun; install Open MPI (apt-get install openmpi-bin)"
    print(f"ttnn-run: there is {lack}", file=sys.stderr)
    return 127

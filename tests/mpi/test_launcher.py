"""`ttnn-run`: options, files, environments, and the division of meshes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

import ttnn
from testkit.rank_jobs import lines, run, with_mpi
from ttnn.device.ranks import even_cut, owners_of
from ttnn.device.systems import named_systems
from ttnn_run.bindings import bindings_of_graph, bindings_of_graph_mapping, read_bindings, read_bindings_mapping
from ttnn_run.command import main, python_program

_GRAPH = """
mesh_descriptors {
  name: "M0"
  arch: WORMHOLE_B0
  device_topology { dims: [ 2, 4 ] }
  host_topology { dims: [ 1, 2 ] }
  channels { count: 2 policy: RELAXED }
}
top_level_instance { mesh { mesh_descriptor: "M0" mesh_id: 0 } }
"""
_BINDINGS = """
rank_bindings:
  - rank: 1
    mesh_id: 0
    mesh_host_rank: 1
    env_overrides:
      TT_VISIBLE_DEVICES: "4,5,6,7"
  - rank: 0
    mesh_id: 0
    mesh_host_rank: 0
global_env:
  TT_LOGGER_LEVEL: Debug
  COUNT: 3
mesh_graph_desc_path: "graph.textproto"
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "graph.textproto").write_text(_GRAPH)
    (tmp_path / "bindings.yaml").write_text(_BINDINGS)
    (tmp_path / "mapping.yaml").write_text("subcontext_id_to_rank_bindings:\n  0: bindings.yaml\n  1: bindings.yaml\n")
    return tmp_path


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[list[str]]:
    """Return the options of mpirun, then each process's command."""
    assert main([*map(str, arguments[:-1]), "--dry-run", *shlex.split(str(arguments[-1]))]) == 0
    words = shlex.split(capsys.readouterr().out)
    text = "\0".join(words)
    return [part.strip("\0").split("\0") for part in text.replace("-np\0", "\0:\0-np\0", 1).split("\0:\0")]


def variables(process: list[str]) -> dict[str, str]:
    found = (process[index + 1] for index, word in enumerate(process) if word == "-x")
    return dict(each.split("=", 1) for each in found)


def test_so_many_processes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTNN_NUMERICS", "exact")
    monkeypatch.setenv("TT_MESH_ID", "7")
    options, *processes = command(
        capsys, "-n", 3, "--system", "galaxy", "--mpi-args", "--timeout 9", "script.py a -n 2"
    )
    assert options == ["mpirun", "--bind-to", "none", "--oversubscribe", "--timeout", "9"]
    assert [variables(each)["TT_RUN_RANK"] for each in processes] == ["0", "1", "2"]
    first = variables(processes[0])
    assert (first["TTNN_SYSTEM"], first["TTNN_NUMERICS"], first["TT_MESH_ID"]) == ("galaxy", "exact", "0")
    assert processes[0][-7:] == [sys.executable, "-m", "mpi4py", "script.py", "a", "-n", "2"]


def test_rank_bindings(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    _, *processes = command(capsys, "--rank-binding", files / "bindings.yaml", "python train.py")
    first, second = map(variables, processes)
    assert first["TT_MESH_GRAPH_DESC_PATH"] == str(files / "graph.textproto")
    assert (first["COUNT"], second["TT_LOGGER_LEVEL"]) == ("3", "Debug")
    assert [each["TT_MESH_HOST_RANK"] for each in (first, second)] == ["0", "1"]
    assert second["TT_VISIBLE_DEVICES"] == "4,5,6,7"
    assert "TT_VISIBLE_DEVICES" not in first


def test_sub_contexts(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    _, *processes = command(capsys, "--rank-bindings-mapping", files / "mapping.yaml", "./program")
    found = [(each["TT_RUN_SUBCONTEXT_ID"], each["TT_RUN_SUBCONTEXT_SIZES"]) for each in map(variables, processes)]
    assert found == [("0", "2,2")] * 2 + [("1", "2,2")] * 2
    assert processes[3][-1] == "./program"


def test_hosts_of_a_descriptor(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    clusters = "rank_to_cluster_mock_cluster_desc:\n  0: graph.textproto\n  1: bindings.yaml\n"
    (files / "mock.yaml").write_text(clusters)
    graph, mock = files / "graph.textproto", files / "mock.yaml"
    options, *processes = command(
        capsys,
        "-m",
        graph,
        "--hosts",
        "b,a",
        "--tcp-interface",
        "eth1",
        "--mock-cluster-rank-binding",
        mock,
        "pytest -q",
    )
    between_hosts = "--mca btl self,vader,tcp --mca btl_tcp_if_include eth1"
    assert options[3:] == ["--host", "b:1,a:1", "--tag-output", *between_hosts.split()]
    assert [variables(each)["TT_MESH_HOST_RANK"] for each in processes] == ["0", "1"]
    assert variables(processes[1])["TT_METAL_MOCK_CLUSTER_DESC_PATH"] == str(files / "bindings.yaml")
    assert processes[0][-3:] == ["-m", "pytest", "-q"]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("python a.py", "python -m mpi4py a.py"),
        ("/usr/bin/python3.11 -u -X dev a.py -m", "/usr/bin/python3.11 -u -X dev -m mpi4py a.py -m"),
        ("python3 -m pytest x", "python3 -m mpi4py -m pytest x"),
        ("python -m mpi4py a.py", "python -m mpi4py a.py"),
        ("python -c pass", "python -m mpi4py -c pass"),
        ("python_tool a.py", "python_tool a.py"),
        ("./a.out python", "./a.out python"),
    ],
)
def test_python_runs_by_way_of_mpi4py(program: str, expected: str) -> None:
    assert python_program(program.split()) == expected.split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rank_bindings: []\nmesh_graph_desc_path: graph.textproto\n", "expected a list of 1 to 1024 ranks"),
        (_BINDINGS.replace("rank: 1", "rank: 0", 1), r"rank_bindings\[1\].rank: 0 is there twice"),
        (_BINDINGS.replace("rank: 1", "rank: 2", 1), r"ranks must be 0 to 1, got \[0, 2\]"),
        (_BINDINGS.replace("mesh_id: 0", "mesh_id: x", 1), "mesh_id: expected a number from 0 to 1023, got 'x'"),
        (_BINDINGS.replace("graph.textproto", "other.textproto"), "there is no file other.textproto"),
        ("- 1\n", "expected keys with values"),
        (_BINDINGS.replace("graph.textproto", "a" * 5000), "there is no file a"),
        (_BINDINGS.replace("graph.textproto", "~nobody-here/x"), "there is no file ~nobody-here/x"),
        (_BINDINGS.replace("COUNT", "'A=B'"), "'A=B' is no name of a variable"),
    ],
)
def test_files_that_are_wrong(files: Path, text: str, message: str) -> None:
    (files / "bindings.yaml").write_text(text)
    with pytest.raises(ttnn.FileFormatError, match=message):
        read_bindings(str(files / "bindings.yaml"))


def test_mappings_that_are_wrong(files: Path) -> None:
    (files / "mapping.yaml").write_text("subcontext_id_to_rank_bindings:\n  1: bindings.yaml\n")
    with pytest.raises(ttnn.FileFormatError, match=r"sub-contexts must be 0 to 0 in order, got \[1\]"):
        read_bindings_mapping(str(files / "mapping.yaml"))
    (files / "mapping.yaml").write_text(f"subcontext_id_to_rank_bindings:\n  '{'9' * 5000}': bindings.yaml\n")
    with pytest.raises(ttnn.FileFormatError, match="sub-contexts must be 0 to 0 in order"):
        read_bindings_mapping(str(files / "mapping.yaml"))
    assert [each.host for each in bindings_of_graph(str(files / "graph.textproto"))] == [0, 1]


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "ld_library_path",
        "PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "VIRTUAL_ENV",
        "HOME",
        "OMPI_MCA_btl",
        "PMIX_MCA_x",
        "PRTE_MCA_plm_rsh_agent",
        "TTNN_CXX",
        "TTNN_CONFIG_PATH",
        "TTNN_CONFIG_OVERRIDES",
        "TT_METAL_HOME",
        "TT_METAL_CACHE",
        "TT_METAL_RUNTIME_ROOT",
        "TT_METAL_KERNEL_PATH",
        "TT_MLIR_HOME",
        "CPLUS_INCLUDE_PATH",
    ],
)
@pytest.mark.parametrize("key", ["COUNT", "TT_VISIBLE_DEVICES"], ids=["global_env", "env_overrides"])
def test_files_do_not_choose_code(files: Path, name: str, key: str) -> None:
    (files / "bindings.yaml").write_text(_BINDINGS.replace(key, name))
    where = "global_env" if key == "COUNT" else r"rank_bindings\[0\].env_overrides"
    with pytest.raises(ttnn.FileFormatError, match=f"{where}: {name} chooses the code that runs"):
        read_bindings(str(files / "bindings.yaml"))


def test_files_choose_settings(files: Path) -> None:
    for name in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "TT_MESH_GRAPH_DESC_PATH", "TTNN_THREADS", "OMP_NUM_THREADS"):
        (files / "bindings.yaml").write_text(_BINDINGS.replace("COUNT", name))
        assert [each.environment[name] for each in read_bindings(str(files / "bindings.yaml"))] == ["3", "3"]


def test_the_number_of_ranks_is_limited(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttnn_run.bindings.MAX_RANKS", 3)
    assert len(read_bindings(str(files / "bindings.yaml"))) == 2
    with pytest.raises(ttnn.FileFormatError, match=r"mapping\.yaml: 4 ranks, at most 3 are possible"):
        read_bindings_mapping(str(files / "mapping.yaml"))
    hosts = _GRAPH.replace("dims: [ 2, 4 ]", "dims: [ 2, 8 ]").replace("dims: [ 1, 2 ]", "dims: [ 1, 4 ]")
    (files / "graph.textproto").write_text(hosts)
    with pytest.raises(ttnn.FileFormatError, match=r"graph\.textproto: 4 ranks, at most 3 are possible"):
        bindings_of_graph(str(files / "graph.textproto"))
    (files / "graphs.yaml").write_text(
        "subcontext_id_to_mesh_graph_descriptor:\n  0: two.textproto\n  1: two.textproto\n"
    )
    (files / "two.textproto").write_text(_GRAPH)
    with pytest.raises(ttnn.FileFormatError, match=r"graphs\.yaml: 4 ranks, at most 3 are possible"):
        bindings_of_graph_mapping(str(files / "graphs.yaml"))


def test_wrong_commands(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["a.py"], "one of the arguments"),
        (["-n", "2"], "expected a program"),
        (["-n", "0", "a.py"], "expected a number from 1 to 1024"),
        (["-n", "2", "--tracy", "", "a.py"], "--tracy is not modelled"),
        (["-n", "1", "a.py", ":", "-np", "5", "b.py"], "':' begins another program of mpirun"),
        (["-n", "1", ""], "expected a program"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err
    assert main(["--rank-binding", "nowhere.yaml", "--dry-run", "a.py"]) == 2
    assert "there is no file nowhere.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("shape", "ranks", "cut"),
    [
        ((1, 8), 2, (1, 2)),
        ((2, 4), 2, (1, 2)),
        ((2, 4), 4, (2, 2)),
        ((8, 4), 4, (4, 1)),
        ((8, 4), 32, (8, 4)),
        ((2, 4), 3, None),
        ((2, 2), 8, None),
    ],
)
def test_boxes_are_as_square_as_possible(shape: tuple[int, int], ranks: int, cut: tuple[int, int] | None) -> None:
    assert even_cut(shape, ranks) == cut


def test_owners_of_chips(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    t3k = named_systems()["t3k"]
    assert owners_of(t3k.chips, (2, 4), t3k, 4) == [0, 0, 1, 1, 2, 2, 3, 3]
    with pytest.raises(ttnn.DeviceError, match="a mesh of 2x4 has no equal boxes for 3 ranks"):
        owners_of(t3k.chips, (2, 4), t3k, 3)
    monkeypatch.setenv("TT_MESH_GRAPH_DESC_PATH", str(files / "graph.textproto"))
    border = t3k.order((1, 8))
    assert [owners_of(border, (1, 8), t3k, 2)[border.index(chip)] for chip in t3k.chips] == [0, 0, 1, 1] * 2
    with pytest.raises(ttnn.DeviceError, match=r"host_topology \[1, 2\] is for 2 ranks, not 4"):
        owners_of(t3k.chips, (2, 4), t3k, 4)


def test_mpi4py_is_named_where_it_is_missing() -> None:
    code = "import sys; sys.modules['mpi4py'] = None; import ttnn; ttnn.init_distributed_context()"
    job = run([sys.executable, "-c", code], OMPI_COMM_WORLD_SIZE="2")
    assert (
        'UnsupportedError: mpirun started this process, and it needs mpi4py: pip install "ttnn-rs[mpi]"' in job.stderr
    )


def test_threads_are_divided_by_the_processes_of_a_host() -> None:
    code = "import os, ttnn; print(ttnn.CONFIG.threads, max(1, len(os.sched_getaffinity(0)) // 2))"
    job = run([sys.executable, "-c", code], OMPI_COMM_WORLD_LOCAL_SIZE="2")
    threads, half = job.stdout.split()
    assert threads == half


_LOCAL = """
import ttnn

with ttnn.create_mesh_device(ttnn.MeshShape(2, 4)) as mesh:
    view = mesh.get_view()
    rank = ttnn.distributed_context_get_rank()
    last = mesh.get_device_ids() if view.is_local(ttnn.MeshCoordinate(0, 3)) else []
    local = [*map(view.is_local, ttnn.MeshCoordinateRange(mesh.shape))]
    print(f"{rank} {last}\\n{rank} {local}\\n", end="", flush=True)
with ttnn.manage_device(device_id=0) as device:
    assert device.get_view().is_local(ttnn.MeshCoordinate(0, 0))
"""


@with_mpi
def test_a_job_with_rank_bindings(files: Path) -> None:
    script = files / "local.py"
    script.write_text(_LOCAL)
    job = run([sys.executable, "-m", "ttnn_run", "--rank-binding", str(files / "bindings.yaml"), str(script)])
    halves = [True, True, False, False] * 2
    others = [not half for half in halves]
    assert lines(job) == [f"0 {halves}", "0 []", "1 [4, 0, 2, 6, 5, 1, 3, 7]", f"1 {others}"]

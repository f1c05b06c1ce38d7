"""Meshes over several processes: contexts, equal bits, deaths, disagreement."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from testkit.rank_jobs import KIT, REPOSITORY, launch, lines, needs_mpi, numbers_of_passed_tests

pytestmark = needs_mpi

_MESSAGES = """
import ttnn

assert not ttnn.distributed_context_is_initialized()
ttnn.init_distributed_context()
rank, size = int(ttnn.distributed_context_get_rank()), int(ttnn.distributed_context_get_size())
assert ttnn.distributed_context_allgather_int(7 - 10 * rank) == [7 - 10 * each for each in range(size)]
ttnn.distributed_context_send_bytes(bytes([rank]) * 3, (rank + 1) % size, 5)
before = (rank - 1) % size
assert ttnn.distributed_context_recv_bytes(3, before, 5) == bytes([before]) * 3
ttnn.distributed_context_barrier()
assert ttnn.using_distributed_env() and ttnn.distributed_context_is_initialized()
for wrong in (rank, size, -1):
    try:
        ttnn.distributed_context_send_bytes(b"", wrong)
        raise SystemExit(f"sent to {wrong}")
    except TypeError as error:
        assert "dest must be one of" in str(error)
ttnn.distributed_context_send_bytes(b"four", (rank + 1) % size)
try:
    ttnn.distributed_context_recv_bytes(3, before)
    raise SystemExit("received another size")
except ttnn.DeviceError as error:
    assert "expected 3 B from process" in str(error)
local = (int(ttnn.distributed_context_world_rank()), ttnn.distributed_context_subcontext_id())
sizes = ttnn.distributed_context_subcontext_sizes()
print(f"{rank} {size} {local} {sizes}\\n", end="", flush=True)
"""


@pytest.mark.parametrize("ranks", [2, 4])
def test_processes_exchange_messages(tmp_path: Path, ranks: int) -> None:
    script = tmp_path / "messages.py"
    script.write_text(_MESSAGES)
    assert lines(launch(ranks, script)) == [f"{rank} {ranks} ({rank}, None) [{ranks}]" for rank in range(ranks)]


def test_bits_do_not_depend_on_the_number_of_processes() -> None:
    script = KIT / "rank_digests.py"
    one = lines(launch(1, script))
    assert len(one) == 17
    for ranks in (2, 4):
        assert lines(launch(ranks, script, TTNN_CHECK_RANKS="on")) == one
    assert lines(launch(2, script, TTNN_RANK_MEMORY="messages")) == one


@pytest.mark.parametrize(
    ("ranks", "memory", "tests"),
    [
        (2, "shared", ["ops/ccl"]),
        (4, "messages", ["ops/ccl/test_experts.py", "ops/ccl/test_halo.py", "ops/ccl/test_replays_on_meshes.py"]),
    ],
)
def test_tests_of_collectives_pass_on_several_processes(ranks: int, memory: str, tests: list[str]) -> None:
    paths = [REPOSITORY / "tests" / name for name in tests]
    options = ("-q", "-x", "--color=no", "-p", "no:cacheprovider", "-p", "no:xdist")
    job = launch(ranks, "-m", "pytest", *options, *paths, TTNN_RANK_MEMORY=memory, TTNN_CHECK_RANKS="on")
    passed = numbers_of_passed_tests(job)
    assert len(passed) == ranks
    assert len(set(passed)) == 1


_DEATH = """
import os, signal, time
import ttnn
from testkit.meshes import different, mesh_of
from ttnn.device.ranks import Ranks

meet = Ranks.meet


def fatal(self, what, facts):
    if self.rank == 1 and self._watch.call == 17 and what == "gather_slices":
        print(time.time(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    meet(self, what, facts)


Ranks.meet = fatal
with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D) as mesh:
    x = different(mesh, (1, 1, 32, 32))
    while True:
        ttnn.all_gather(x, 3)
"""


def test_a_dead_process_ends_the_job(tmp_path: Path) -> None:
    script = tmp_path / "death.py"
    script.write_text(_DEATH)
    job = launch(4, script)
    assert "rank 1 of 4 died in all_gather (call 17)" in job.stderr.splitlines()
    (died,) = lines(job, code=137)
    assert time.time() - float(died) < 5


def report(body: str) -> str:
    """Return a program whose processes print their errors."""
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"""
import ttnn
from testkit.meshes import different, mesh_of

ttnn.init_distributed_context()
rank = int(ttnn.distributed_context_get_rank())
try:
{indented}
except ttnn.RankError as error:
    print(f"{{rank}} {{str(error).partition('ranks disagree: ')[2]}}\\n", end='', flush=True)
ttnn.distributed_context_barrier()
"""


@pytest.mark.parametrize(
    ("body", "check", "texts"),
    [
        ("ttnn.open_mesh_device(ttnn.MeshShape(*((2, 4), (1, 8))[rank]))", "off", ("of 2x4 n300", "of 1x8 n300")),
        ("ttnn.open_mesh_device(ttnn.MeshShape(2, 4), trace_region_size=rank << 20)", "off", ("1048576", "{'l1_small")),
        (
            "with ttnn.manage_config('numerics', ('exact', 'fast')[rank]):\n"
            "    ttnn.open_mesh_device(ttnn.MeshShape(2, 4))",
            "off",
            ("numerics exact", "numerics fast"),
        ),
        (
            "with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D) as mesh:\n"
            "    x = different(mesh, (1, 1, 32, 256))\n"
            "    (ttnn.all_gather, ttnn.reduce_scatter)[rank](x, 3)",
            "off",
            ("is in all_gather (call 1): gather_slices", "is in reduce_scatter (call 1): sum_over_chips"),
        ),
        (
            "with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D) as mesh:\n"
            "    x = different(mesh, (1, 1, 32, 32))\n"
            "    extra = ttnn.exp(x) if rank else None\n"
            "    ttnn.all_gather(x, 3)",
            "off",
            ("is in all_gather (call 1)", "is in all_gather (call 2)"),
        ),
        (
            "with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D) as mesh:\n"
            "    x = different(mesh, (1, 1, 32, 32))\n"
            "    ttnn.multiply(x, 2.0 + rank)",
            "on",
            ("is in multiply (call 1): ([1, 1, 32, 32] BFLOAT16 TILE, 2.0)", "BFLOAT16 TILE, 3.0)"),
        ),
        (
            "with mesh_of((1, 8), ttnn.FabricConfig.FABRIC_1D) as mesh:\n"
            "    x = different(mesh, (1, 1, 32, 32))\n"
            "    if rank == 0:\n"
            "        ttnn.get_device_tensors(x)[0].to_torch()",
            "off",
            ("a tensor is read", "the mesh is closed"),
        ),
    ],
    ids=["shapes", "regions", "numerics", "collectives", "addresses", "every call", "reads"],
)
def test_processes_that_disagree_all_raise(tmp_path: Path, body: str, check: str, texts: tuple[str, ...]) -> None:
    script = tmp_path / "disagree.py"
    script.write_text(report(body))
    first, second = lines(launch(2, script, TTNN_CHECK_RANKS=check))
    assert first.removeprefix("0 ") == second.removeprefix("1 ")
    assert first.startswith("0 rank 0 of 2 is in ")
    assert "; rank 1 is in " in first
    assert all(text in first for text in texts), first


def test_an_exception_of_one_process_ends_the_job(tmp_path: Path) -> None:
    script = tmp_path / "raises.py"
    script.write_text(report("if rank == 1:\n    raise ValueError('mine')\nttnn.distributed_context_barrier()"))
    job = launch(2, script)
    assert job.returncode == 1
    assert "ValueError: mine" in job.stderr


def test_a_process_that_has_ended_is_not_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text(report("if rank == 1:\n    raise SystemExit\nttnn.distributed_context_barrier()"))
    job = launch(2, script)
    assert (
        "RankError: rank 1 of 2 has ended before its first call; rank 0 waits for it in distributed_context"
        in job.stderr
    )

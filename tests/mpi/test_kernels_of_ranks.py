"""Packets between kernels of several processes: equal results, mistakes, deadlocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.rank_jobs import REPOSITORY, launch, lines, needs_mpi, numbers_of_passed_tests

pytestmark = needs_mpi


@pytest.mark.parametrize(("ranks", "memory"), [(2, "shared"), (4, "messages")])
def test_tests_of_packets_pass_on_several_processes(ranks: int, memory: str) -> None:
    options = ("-q", "-x", "--color=no", "-p", "no:cacheprovider", "-p", "no:xdist")
    tests = (REPOSITORY / "tests/metal/test_fabric_kernels.py", "-k", "gather or order or test_packets")
    job = launch(ranks, "-m", "pytest", *options, *tests, TTNN_RANK_MEMORY=memory)
    assert numbers_of_passed_tests(job) == [13] * ranks


_PROGRAM = """
import ttnn
from ttnn import metal
from ttnn.kernel_api import *

CORE = ttnn.CoreCoord(0, 0)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])


def send() -> None:
    address = get_arg_val(1)
    sender, _ = WorkerToFabricEdmSender.build_from_args(2)
    sender.open()
    header = PacketHeaderPool.allocate_header()
    header.to_chip_unicast(3)
    here = get_noc_addr(0)
    header.to_noc_unicast_inline_write(NocUnicastInlineWriteCommandHeader(here + address, 7))
    sender.send_payload_flush_blocking_from_address(header.address, packet_header_bytes())
    sender.close()


def waits() -> None:
    noc_semaphore_wait(get_semaphore(0), 1)


def workload(mesh, kernel, columns, address):
    result = metal.MeshWorkload()
    nodes = [mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, column)) for column in range(8)]
    for column in columns:
        program = metal.create_program()
        metal.create_semaphore(program, CORES, 0)
        handle = metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
        if kernel is send:
            words = ttnn.compute_fabric_connection_rt_args(nodes[column], [nodes[column + 1]], [], [0], [1])
            metal.set_runtime_args(program, handle, CORE, [0, address, *words[1:]])
        at = ttnn.MeshCoordinate(0, column)
        result.add_program(ttnn.MeshCoordinateRange(at, at), program)
    return result


ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 8))
queue = mesh.mesh_command_queue()
rank = int(ttnn.distributed_context_get_rank())
for kernel, columns in ((send, [1]), (waits, [0, 5])):
    try:
        metal.enqueue_mesh_workload(queue, workload(mesh, kernel, columns, 1 << 22))
    except (ttnn.RankError, ttnn.KernelError) as error:
        text = str(error).replace(chr(10), "; ")
        print(f"{kernel.__name__}, rank {rank}: {type(error).__name__}: {text}\\n", end="", flush=True)
    mesh.reset()
semaphore = ttnn.create_global_semaphore(mesh, CORES, 0)
address = ttnn.get_global_semaphore_address(semaphore)
metal.enqueue_mesh_workload(queue, workload(mesh, send, [2], address))
print(f"done, rank {rank}\\n", end="", flush=True)
ttnn.close_mesh_device(mesh)
"""


def test_mistakes_end_the_program_in_all_processes(tmp_path: Path) -> None:
    script = tmp_path / "mistakes.py"
    script.write_text(_PROGRAM)
    found = lines(launch(2, script))
    assert found[:2] == ["done, rank 0", "done, rank 1"]
    texts = dict(line.split(": ", 1) for line in found[2:])
    where = "chip (0, 1), core 0-0, BRISC, kernel send (mistakes.py:"
    assert texts["send, rank 0"].startswith(f"AddressError: {where}"), texts
    assert texts["send, rank 1"].startswith("RankError: kernel send (BRISC) on core 0-0 of chip (0, 1): "), texts
    for rank in (0, 1):
        text = texts[f"waits, rank {rank}"]
        assert text.startswith("DeadlockError: deadlock: no kernel can go on"), text
        assert "chip (0, 0), core 0-0" in text, text
        assert "chip (0, 5), core 0-0" in text, text

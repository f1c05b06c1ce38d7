"""C++ example programs return bits of Python kernels and operators."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

import ttnn

BOTH_SPELLINGS = [
    "classic.loopback",
    "classic.riscv_add",
    "classic.vector_exp",
    "classic.vector_chain",
    "classic.custom_sfpu",
    "classic.matmul_single_core",
    "classic.matmul_multi_core",
    "classic.matmul_block_reuse",
    "classic.matmul_multicast",
    "classic.softmax_multi_core",
]
"""In the classic spelling and that of 0.81.1.

In that, element-wise sum and multicast are programs of their own.
"""
PROGRAMS = [*BOTH_SPELLINGS, "classic.eltwise_add", "objects.eltwise_add", "objects.multicast", "metal2.eltwise_add"]
LONGER = {"classic.custom_sfpu": 1.3, "classic.riscv_add": 1.4}
"""Instructions that a C++ kernel counts, unlike the Python kernel.

A vector function of its own loads its constants for each register. 1.12 where nothing is specified.
"""

LONGER_ON_BLACKHOLE = LONGER | {"classic.riscv_add": 1.7, "classic.softmax_multi_core": 1.2}
"""The same on Blackhole.

Every core has one row of the softmax there, so that a kernel's beginning counts more.
"""


@pytest.fixture
def common() -> ModuleType:
    return importlib.import_module("examples.common")


@pytest.mark.parametrize("name", PROGRAMS)
def test_cpp_example_has_the_bits_and_about_the_time_of_python(
    any_device: ttnn.MeshDevice, common: ModuleType, name: str
) -> None:
    program = importlib.import_module(f"examples.{name}")
    in_python = program.run(any_device)
    with common.in_cpp():
        first, again = program.run(any_device), program.run(any_device)
    assert first.checks
    assert all(first.checks.values()), first.checks
    assert (first.report.cycles, repr(first.report)) == (again.report.cycles, repr(again.report))
    longer = LONGER_ON_BLACKHOLE if ttnn.device.is_blackhole(any_device) else LONGER
    assert in_python.report.cycles <= first.report.cycles <= longer.get(name, 1.12) * in_python.report.cycles


@pytest.mark.parametrize("name", BOTH_SPELLINGS)
def test_objects_give_the_bits_of_the_classic_spelling(device: ttnn.MeshDevice, common: ModuleType, name: str) -> None:
    program = importlib.import_module(f"examples.{name}")
    with common.in_cpp():
        classic = program.run(device)
    with common.in_cpp(objects=True) as sources:
        objects = program.run(device)
    assert sources
    assert {source.parts[-4] for source in sources} == {"objects"}
    assert objects.checks
    assert all(objects.checks.values()), objects.checks
    assert objects.report.cycles == pytest.approx(classic.report.cycles, rel=0.05)


@pytest.mark.parametrize("name", ["classic.matmul_multicast", "classic.vector_exp", "classic.softmax_multi_core"])
def test_the_timeline_has_the_names_of_both_languages(device: ttnn.MeshDevice, common: ModuleType, name: str) -> None:
    program = importlib.import_module(f"examples.{name}")
    in_python = {event.name for event in program.run(device).report.events}
    with common.in_cpp():
        in_cpp = {event.name for event in program.run(device).report.events}
    assert in_cpp - in_python == {"instructions"}
    # What Python kernels do through the interface of a CB, or in L1 by hand, is plain instructions in C++.
    assert in_python - in_cpp <= {"get_local_cb_interface", "get_noc_addr", "an L1 store"}


@pytest.mark.parametrize("kernels", [{"add"}, {"read_both"}, {"read_both", "write_tiles"}], ids=sorted)
def test_kernels_of_both_languages_run_in_one_program(
    device: ttnn.MeshDevice, common: ModuleType, kernels: set[str]
) -> None:
    with common.in_cpp(kernels):
        outcome = importlib.import_module("examples.classic.eltwise_add").run(device)
    assert all(outcome.checks.values())


def test_senders_and_receivers_of_both_languages_exchange_pages(device: ttnn.MeshDevice, common: ModuleType) -> None:
    with common.in_cpp({"in0_sender", "in1_receiver_writer", "multiply_blocks"}):
        outcome = importlib.import_module("examples.classic.matmul_multicast").run(device)
    assert all(outcome.checks.values())


def test_every_source_is_the_kernel_of_a_program(common: ModuleType) -> None:
    sources = list(common.EXAMPLES.glob("*/cpp/*/*.cpp"))
    assert {source.parts[-4] for source in sources} == {"classic", "objects", "metal2"}
    for source in sources:
        program, spelling = source.parent.name, source.parts[-4]
        # A program of the classic spelling may have its kernels with objects too; those of all programs are shared.
        homes = (f"{spelling}.{program}", f"classic.{program}", program)
        home = next(name for name in homes if (common.EXAMPLES / f"{name.replace('.', '/')}.py").is_file())
        assert callable(getattr(importlib.import_module(f"examples.{home}"), source.stem)), source

"""Output and assertions of kernels, constants under their C++ names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_kernel_data import run

import ttnn
from testkit.parts import CORE
from ttnn import kernel_api as api
from ttnn import metal
from ttnn.base.exceptions import ArgumentError, KernelArgumentError, KernelAssertError


def test_lines_carry_device_core_and_risc(device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    def kernel() -> None:
        api.DPRINT << "tile " << 3 << api.ENDL() << "no " << "end"
        api.DPRINT("{:#x} {}\n", 255, 1.5)

    run(device, kernel, cores=(2, 1))
    front = f"{device.id()}:(x=2,y=1):NC: "
    assert capsys.readouterr().out.splitlines() == [f"{front}tile 3", f"{front}no end0xff 1.5"]


def test_dprint_manipulators_format_numbers(device: ttnn.MeshDevice, capsys: pytest.CaptureFixture[str]) -> None:
    def kernel() -> None:
        out = api.DPRINT << api.HEX() << 31 << " " << api.DEC() << 31 << " " << api.OCT() << 8
        out << api.SETW(4) << 1 << 1 << " " << api.SETPRECISION(3) << 1 / 3 << " "
        api.DPRINT << api.FIXED() << 2.0 << api.DEFAULTFLOAT() << " " << 2.0 << api.ENDL
        api.DPRINT_MATH << api.F32(0x3F800000) << " " << api.BF16(0x4000) << " " << api.U32(-1)

    run(device, kernel)
    first, second = (line.partition("NC: ")[2] for line in capsys.readouterr().out.splitlines())
    assert (first, second) == ("1f 31 10   11 0.333 2.000000 2", "1 2 4294967295")


def test_an_assertion_stops_the_program(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        api.ASSERT(api.get_arg_val(0) == 1)
        api.ASSERT(api.get_arg_val(0) == 2, "two")

    with pytest.raises(KernelAssertError, match=r"kernel kernel \(test_kernel_debug\.py:\d+\): ASSERT: .*: two"):
        run(device, kernel, [1])


def test_profiler_marks_have_no_effect_in_kernels(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        api.DeviceZoneScopedN("whole kernel")
        with api.DeviceZoneScopedN("part"):
            api.WAYPOINT("PART")
        api.invalidate_l1_cache()

    def empty() -> None:
        pass

    assert run(device, kernel).cycles == run(device, empty).cycles


def test_cb_index_names_equal_their_numbers(device: ttnn.MeshDevice) -> None:
    seen = []

    def kernel() -> None:
        api.cb_reserve_back(api.tt.CBIndex.c_0, 1)
        seen.append(api.get_write_ptr(api.tt.CB.c_in0) == api.get_write_ptr(0))
        api.L1Pointer(api.get_semaphore(0))[0] = api.VALID
        seen.append(api.L1Pointer(api.get_semaphore(0))[0] == api.INVALID)

    run(device, kernel, semaphores=1)
    assert seen == [True, False]
    assert (api.CBIndex.c_31, api.CB.c_out0, api.CB.c_intermed7, api.tt.constants.TILE_HW) == (31, 16, 31, 1024)
    assert (metal.tt, metal.CBIndex) == (api.tt, api.CBIndex)
    assert api.tt.DataFormat.Float16_b is metal.DataFormat.Float16_b
    assert metal.NOC.NOC_0 is api.tt.tt_metal.NOC.RISCV_0_default


@pytest.mark.parametrize("order", ["metal kernel_api", "kernel_api metal"])
def test_star_imports_work_in_any_order(device: ttnn.MeshDevice, order: str) -> None:
    names: dict[str, object] = {}
    for module in order.split():
        exec(f"from ttnn.{module} import *", names)
    args: Callable[..., api.TensorAccessorArgs] = names["TensorAccessorArgs"]  # type: ignore[assignment]
    config = metal.InterleavedBufferConfig(device=device, size=4096, page_size=2048)
    buffer, seen = metal.create_buffer(config), []

    def kernel() -> None:
        seen.extend([args(1), api.TensorAccessorArgs[1](), args(cta_offset=1)])

    words = args(buffer).get_compile_time_args()
    run(device, kernel, compile_args=[7, *words])
    assert words == [2, 2048]
    for found in seen:
        assert (found.get_compile_time_args(), found.dram, found.next_compile_time_args_offset()) == (words, True, 3)
    with pytest.raises(ArgumentError, match="expected a Buffer or a Tensor, got int"):
        args(1)


def test_mm_init_has_default_buffers(device: ttnn.MeshDevice) -> None:
    def compute() -> None:
        api.mm_init()

    program = metal.create_program()
    for index in (0, 1, 16):
        config = metal.CircularBufferConfig(2048, {index: metal.DataFormat.Float16_b}).set_page_size(index, 2048)
        metal.create_circular_buffer(program, {0}, config)
    metal.create_kernel(program, compute, metal.CoreRange({0}, [0, 0]), metal.ComputeConfig())
    assert "mm_init" in {event.name for event in metal.run_program(device, program).events}


def test_braces_of_two_numbers_have_no_order() -> None:
    assert metal.CoreCoord({3}) == CORE.__class__(3, 3)
    with pytest.raises(ArgumentError, match=r"is a set in Python, which has no order, got \{0, 1\}; write \(x, y\)"):
        metal.CoreRange({0, 1}, {1})


# Errors name the call of the line.


def words_at(address: int) -> None:
    api.L1Pointer(address)[0] = 1


@pytest.mark.parametrize(
    ("call", "kernel"),
    [
        ("an L1 store", lambda: words_at(2)),
        ("an L1 load", lambda: api.L1Pointer(2)[0]),
        ("noc_semaphore_set", lambda: api.noc_semaphore_set(2, 1)),
        ("noc_semaphore_set_multicast", lambda: api.noc_semaphore_set_multicast(2, 0, 1)),
        ("noc_async_read_tile", lambda: api.noc_async_read_tile(0, api.InterleavedAddrGen(64, 64), 64)),
        ("Noc.async_write_zeros", lambda: api.Noc().async_write_zeros(1 << 42, 64)),
        ("TensorAccessor.get_noc_addr", lambda: api.TensorAccessor(api.TensorAccessorArgs(0), 64).get_noc_addr(0)),
    ],
)
def test_the_call_of_the_line_is_named(device: ttnn.MeshDevice, call: str, kernel: Callable[[], object]) -> None:
    with pytest.raises((ttnn.KernelError, KernelArgumentError), match=rf"\.py:\d+\): {call}: "):
        run(device, lambda: kernel() and None, compile_args=[2, 2048])

"""Names below the compute API act as on the chip.

Public kernels use them around vector functions of their own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import ttnn
from testkit.parts import CORE, TILE, build, read_one, tiles_buffer, values, write_one
from ttnn import KernelArgumentError, UnsupportedError, metal

HEAD = """
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
"""
LOOP = """
namespace NAMESPACE { void MAIN {
    init_sfpu(0, 16);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); ++i) {
        cb_wait_front(0, 1);
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        copy_tile(0, 0, 0);
        MATH((work()));
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_pop_front(0, 1);
        cb_push_back(16, 1);
    }
} }
"""


def ran(
    device: ttnn.MeshDevice, source: str, tiles: int = 2
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Run a kernel on bfloat16 tiles; return inputs and outputs.

    By tile, face and element.
    """
    first, target = tiles_buffer(device, tiles), tiles_buffer(device, tiles)
    x = values(tiles * TILE, 7)
    first.write(x)
    program = build(
        {"reader": read_one, "writer": write_one}, {"reader": [first, tiles], "writer": [target, tiles]}, {0: 2, 16: 2}
    )
    kernel = metal.create_kernel_from_string(program, source, CORE, metal.ComputeConfig())
    metal.set_runtime_args(program, kernel, CORE, [tiles])
    metal.run_program(device, program)
    out = (target.read(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float32).reshape(tiles, 4, 16, 16), out.reshape(tiles, 4, 16, 16)


FUNCTIONS = {
    "one call for the tile": """
        math::set_dst_write_addr<DstTileLayout::Default, DstTileShape::Tile32x32>(0);
        math::set_addr_mod_base();
        TTI_STALLWAIT(p_stall::STALL_SFPU, p_stall::MATH);
        for (int i = 0; i < 32; i++) { dst_reg[i] = dst_reg[i] * 2.0f; }
        math::clear_dst_reg_addr();
        TTI_STALLWAIT(p_stall::STALL_CFG, p_stall::WAIT_SFPU);
        math::clear_addr_mod_base();
    """,
    "newer names": """
        math::set_dst_write_addr<DstTileShape::Tile32x32, UnpackDestination::SrcRegs>(0);
        for (int i = 0; i < 32; i++, dst_reg++) { sfpi::vFloat x = sfpi::dst_reg[0]; sfpi::dst_reg[0] = x + x; }
        math::clear_dst_reg_addr();
    """,
    "faces counted by instructions": """
        math::set_dst_write_addr<DstTileLayout::Default, DstTileShape::Tile32x32>(0);
        for (int face = 0; face < 4; face++) {
            for (int i = 0; i < 8; i++) { dst_reg[0] = dst_reg[0] * 2.0f; dst_reg++; }
            TTI_SETRWC(p_setrwc::CLR_NONE, p_setrwc::CR_D, 8, 0, 0, p_setrwc::SET_D);
            TTI_SETRWC(p_setrwc::CLR_NONE, p_setrwc::CR_D, 8, 0, 0, p_setrwc::SET_D);
        }
        math::clear_dst_reg_addr();
    """,
    "start and done": """
        _llk_math_eltwise_unary_sfpu_start_<DST_SYNC_MODE>(0);
        for (int face = 0; face < 4; face++) {
            for (int i = 0; i < 8; i++) { dst_reg[i] = dst_reg[i] * 2.0f; }
            _llk_math_eltwise_unary_sfpu_inc_dst_face_addr_();
        }
        _llk_math_eltwise_unary_sfpu_done_();
    """,
    "faces of 16 columns as tiles": """
        for (int face = 0; face < 4; face++) {
            math::set_dst_write_addr<DstTileLayout::Default, DstTileShape::Tile16x16>(face);
            for (int i = 0; i < 8; i++) { dst_reg[i] = dst_reg[i] * 2.0f; }
        }
    """,
    "rows counted by an instruction": """
        _llk_math_eltwise_sfpu_start_(0);
        for (int i = 0; i < 32; i++) { dst_reg[0] = dst_reg[0] * 2.0f; TTI_INCRWC(0, 2, 0, 0); }
        _llk_math_eltwise_sfpu_done_();
    """,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_way_to_walk_through_a_tile_doubles_it(device: ttnn.MeshDevice, name: str) -> None:
    source = HEAD + "inline void work() {" + FUNCTIONS[name] + "}" + LOOP
    x, out = ran(device, source)
    assert np.array_equal(out, 2 * x)


def test_lane_numbers_say_row_and_column(device: ttnn.MeshDevice) -> None:
    work = """
    inline void work() {
        math::set_dst_write_addr<DstTileLayout::Default, DstTileShape::Tile32x32>(0);
        for (int k = 0; k < 32; k++) {
            vInt column = (vConstTileId & 15) + (((k >> 3) & 1) * 16 + (k & 1));
            vInt row = vInt(vConstTileId >> 4) + ((k >> 4) * 16 + ((k >> 1) & 3) * 4);
            vFloat value = 0.0f;
            v_if(row <= column) { value = 1.0f; }
            v_endif;
            dst_reg[k] = value;
        }
        math::clear_dst_reg_addr();
    }
    """
    _, out = ran(device, HEAD + work + LOOP, 1)
    whole = out[0].reshape(2, 2, 16, 16).transpose(0, 2, 1, 3).reshape(32, 32)
    assert np.array_equal(whole, np.triu(np.ones((32, 32), np.float32)))


def test_threads_take_turns_by_their_low_level_calls(device: ttnn.MeshDevice) -> None:
    source = (
        HEAD
        + """
    namespace NAMESPACE { void MAIN {
        unary_op_init_common(0, 16);
        MATH((llk_math_pack_sync_init<DST_ACCUM_MODE>()));
        PACK((llk_pack_dest_init<DST_ACCUM_MODE, false>()));
        for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); ++i) {
            UNPACK((llk_wait_tiles(0, 1)));
            PACK((llk_packer_wait_for_math_done()));
            PACK((llk_wait_for_free_tiles<false, false, false>(16, 1)));
            MATH((_llk_math_wait_for_dest_available_<SyncHalf>()));
            UNPACK((llk_unpack_A<BroadcastType::NONE, false, EltwiseBinaryReuseDestType::NONE, UnpackToDestEn>(0, 0)));
            MATH((llk_math_eltwise_unary_datacopy<A2D, DST_ACCUM_MODE, BroadcastType::NONE,
                                                  UnpackToDestEn>(0)));
            PACK((llk_pack<DST_ACCUM_MODE, false, PackMode::Default>(0, 16)));
            MATH((llk_math_dest_section_done<DST_ACCUM_MODE>()));
            PACK((llk_pack_dest_section_done<DST_ACCUM_MODE>()));
            UNPACK((llk_pop_tiles(0, 1)));
            PACK((llk_push_tiles<false, false>(16, 1)));
        }
    } }
    """
    )
    x, out = ran(device, source)
    assert np.array_equal(out, x)


PAIRS = """
namespace NAMESPACE { void MAIN {
    unary_op_init_common(0, 16);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); i += 2) {
        cb_wait_front(0, 2);
        cb_reserve_back(16, 2);
        tile_regs_acquire();
        STEPS
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        pack_tile(1, 16);
        tile_regs_release();
        cb_pop_front(0, 2);
        cb_push_back(16, 2);
    }
} }
"""
UNPACK = "UNPACK((llk_unpack_A(0, {})));"
COPY = "MATH((llk_math_eltwise_unary_datacopy<A2D, DST_ACCUM_MODE, BroadcastType::NONE>({})));"


def test_math_copies_unpacked_tiles_in_their_order(device: ttnn.MeshDevice) -> None:
    steps = UNPACK.format(0) + UNPACK.format(1) + COPY.format(0) + COPY.format(1)
    x, out = ran(device, HEAD + PAIRS.replace("STEPS", steps))
    assert np.array_equal(out, x)


def test_a_copy_before_its_unpack_raises_unsupported_error(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.UnsupportedError, match="no llk_unpack_A stands before it"):
        ran(device, HEAD + PAIRS.replace("STEPS", COPY.format(0) + UNPACK.format(0)))


def test_tiles_that_math_never_takes_are_an_error(device: ttnn.MeshDevice) -> None:
    steps = UNPACK.format(0) + UNPACK.format(1) + UNPACK.format(0) + COPY.format(0) + COPY.format(1)
    with pytest.raises(KernelArgumentError, match="llk_unpack_A: math takes fewer tiles than the unpacker has brought"):
        ran(device, HEAD + PAIRS.replace("STEPS", steps))


WAIT, DONE = "MATH(({}llk_math_wait_for_dest_available{}()));", "MATH(({}llk_math_dest_section_done{}()));"


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (WAIT.format("", "") * 2, "llk_math_wait_for_dest_available: Dst is acquired already"),
        (WAIT.format("_", "_<SyncHalf>") * 2, "_llk_math_wait_for_dest_available_: Dst is acquired already"),
        (DONE.format("", "<DST_ACCUM_MODE>"), r"llk_math_dest_section_done: tile_regs_commit\(\) without"),
        ("PACK((llk_pack<DST_ACCUM_MODE, false>(0, 16)));", "llk_pack: "),
    ],
)
def test_an_error_names_the_function_that_was_called(device: ttnn.MeshDevice, steps: str, text: str) -> None:
    with pytest.raises(ttnn.KernelError, match=text):
        ran(device, HEAD + "void kernel_main() { unary_op_init_common(0, 16); " + steps + "}")


def test_enumerators_are_named_without_their_enumeration_and_packers_by_flags(device: ttnn.MeshDevice) -> None:
    steps = UNPACK.replace("llk_unpack_A(", "llk_unpack_A<NONE>(") + COPY.replace("BroadcastType::NONE", "NONE")
    packs = "PACK((llk_pack<DST_ACCUM_MODE, false, false>({}, 16)));"
    source = PAIRS.replace("STEPS", steps.format(0, 0) + steps.format(1, 1))
    for tile in (0, 1):
        source = source.replace(f"pack_tile({tile}, 16);", packs.format(tile))
    x, out = ran(
        device, HEAD + source.replace("tile_regs_wait();", "tile_regs_wait(); PACK((llk_pack_init<false>(16)));")
    )
    assert np.array_equal(out, x)


def test_the_packer_by_flags_does_not_untilize(device: ttnn.MeshDevice) -> None:
    with pytest.raises(ttnn.KernelCompileError, match="use pack_untilize_dest to untilize"):
        ran(device, HEAD + "void kernel_main() { llk_pack<DST_ACCUM_MODE, false, true>(0, 16); }")


def test_own_functions_in_the_namespace_of_the_listings_are_called_by_the_official_macros(
    device: ttnn.MeshDevice,
) -> None:
    source = (
        HEAD
        + """
    #include "llk_math_eltwise_unary_sfpu_macros.h"
    namespace ckernel::sfpu {
    template <bool APPROXIMATE, int ITERATIONS>
    inline void calculate_scaled(uint32_t scale) {
        for (int i = 0; i < ITERATIONS; i++) { dst_reg[0] = dst_reg[0] * vFloat(static_cast<int>(scale)); dst_reg++; }
    }
    }
    inline void work() {
        SFPU_UNARY_INIT(unused);
        SFPU_UNARY_CALL(DST_SYNC_MODE, DST_ACCUM_MODE, calculate_scaled, (APPROX, 8), 0, VectorMode::RC, 2u);
    }
    """
        + LOOP
    )
    x, out = ran(device, source)
    assert np.array_equal(out, 2 * x)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("_llk_math_hw_configure_<false, false>(5, 5);", "_llk_math_hw_configure_"),
        ("llk_math_hash_cb(0);", "llk_math_hash_cb"),
        ("math::move_d2a_fixed_face(0);", "move_d2a_fixed_face"),
        ("sfpi::subvec_transp(1, 2, 3, 4);", "subvec_transp"),
        ("ckernel::sfpu::_calculate_abs_(0);", "_calculate_abs_"),
        ("t6_semaphore_post<1>(2);", "t6_semaphore_post"),
        ("TTI_SFPSWAP(0, 1, 2, 3);", "TTI_SFPSWAP"),
        ("ckernel_template tmp(1, 1, 0);", "ckernel_template"),
        ("addr_mod_t{}.set(ADDR_MOD_7);", "addr_mod_t"),
        ("tensix_sync();", "tensix_sync"),
        ("semaphore_post(semaphore::UNPACK_SYNC);", "semaphore"),
        ("wait_for_next_context(2);", "wait_for_next_context"),
    ],
)
def test_names_that_are_not_modelled_are_refused_by_name(device: ttnn.MeshDevice, call: str, name: str) -> None:
    with pytest.raises(UnsupportedError, match=name) as caught:
        ran(device, HEAD + "inline void work() {" + call + "}" + LOOP)
    assert "undeclared" not in str(caught.value)


@pytest.mark.parametrize("header", ["cunpack_common.h", "llk_math_eltwise_unary_sfpu_topk_xl.h"])
def test_headers_below_the_compute_api_are_refused_by_name(device: ttnn.MeshDevice, header: str) -> None:
    with pytest.raises(UnsupportedError, match=header):
        ran(device, f'#include "{header}"\n' + HEAD + "inline void work() {}" + LOOP)


def test_the_header_of_sfpu_functions_is_found(device: ttnn.MeshDevice) -> None:
    source = (
        '#include "llk_math_eltwise_unary_sfpu.h"\n'
        + HEAD
        + "inline void work() {"
        + FUNCTIONS["one call for the tile"]
    )
    x, out = ran(device, source + "}" + LOOP)
    assert np.array_equal(out, 2 * x)


def test_functions_of_the_attention_kernels_are_refused_when_they_are_called(device: ttnn.MeshDevice) -> None:
    include = '#include "experimental/llk_sfpu/ckernel_sfpu_sdpa.h"\n'
    with pytest.raises(UnsupportedError, match="calculate_recip_first_column"):
        ran(
            device,
            HEAD + include + "inline void work() { ckernel::sfpu::calculate_recip_first_column<false>(); }" + LOOP,
        )
    device.reset()
    x, out = ran(device, HEAD + include + "inline void work() {}" + LOOP)
    assert np.array_equal(out, x)


def test_sizes_of_tiles_have_their_names_in_compute_kernels(device: ttnn.MeshDevice) -> None:
    check = (
        "static_assert(TILE_HEIGHT == 32 && TILE_WIDTH == 32 && FACE_HEIGHT == 16 && tt::constants::TILE_WIDTH == 32);"
    )
    work = "inline void work() { vInt e = exexp(vFloat(4.0f), sfpi::ExponentMode::Biased); (void)e; }"
    x, out = ran(device, HEAD + '#include "tt-metalium/constants.hpp"\n' + check + work + LOOP)
    assert np.array_equal(out, x)


def test_kernels_of_data_movement_take_sizes_of_tiles_from_their_own_namespace(device: ttnn.MeshDevice) -> None:
    source = """
    #include "dataflow_api.h"
    #include "tt-metalium/constants.hpp"
    using namespace tt::constants;
    void kernel_main() { ASSERT(TILE_HEIGHT * TILE_WIDTH == 4 * FACE_HEIGHT * FACE_WIDTH); }
    """
    program = metal.create_program()
    metal.create_kernel_from_string(program, source, CORE, metal.ReaderDataMovementConfig())
    assert metal.run_program(device, program).cycles > 0

// Names of the layers below the compute API that kernels of TT-NN use.
//
// The chip's unpacker, math and packer are set up one by one; the engine sets them up together. So of each group one
// function does it, and the others are there to be called.
#pragma once

#include "ttnn_rs/compute_enums.h"
#include "ttnn_rs/risc.h"

namespace ckernel {

// Loads a word and waits until it is there.
FORCE_INLINE std::uint32_t load_blocking(const volatile std::uint32_t* pointer) { return *pointer; }
FORCE_INLINE constexpr std::uint32_t get_operand_id(std::uint32_t operand) { return operand; }
FORCE_INLINE void wait(std::uint32_t cycles) { riscv_wait(cycles); }
FORCE_INLINE std::uint64_t read_wall_clock() { return tt_call_wall_clock(); }

enum class PackMode : std::uint8_t { Default, Untilize, Tilize };
constexpr bool UnpackToDestEn = true;
constexpr bool UnpackToDestDis = false;
enum class p_dim_stride_target : std::uint8_t { IGNORE, FACE_ROW_MAJOR };

}  // namespace ckernel

#ifdef COMPILE_FOR_TRISC

#include "api/compute/bcast.h"
#include "ttnn_rs/math_thread.h"

namespace ttnn_rs {
// Tiles that the unpacker has brought and math has not taken yet, in their order.
struct Unpacked {
    static constexpr std::uint32_t ROOM = 16;
    struct Tile {
        std::uint32_t cb, tile;
    };
    // The start asks for these two at the end of a kernel.
    std::uint32_t brought, taken;
    Tile tiles[ROOM];

    void bring(std::uint32_t cb, std::uint32_t tile) {
        if (brought - taken == ROOM) {
            unsupported("llk_unpack_A", "more than 16 tiles that math takes only later in the source");
        }
        tiles[brought++ % ROOM] = {cb, tile};
    }
    Tile take() {
        if (brought == taken) {
            unsupported("llk_math_eltwise_unary_datacopy", "no llk_unpack_A stands before it in the source");
        }
        return tiles[taken++ % ROOM];
    }
};
}  // namespace ttnn_rs

extern "C" {
FORCE_INLINE ttnn_rs::Unpacked tt_unpacked;
}

namespace ttnn_rs {
// An init of math that names no buffers: the unpacker's names them.
struct PendingInit {
    bool waits;
    Step step;
    ckernel::BroadcastType type;
};
FORCE_INLINE PendingInit pending_init;
// Modes of the packer: an enumeration now, a flag that says whether it untilizes before.
template <auto mode>
constexpr bool packs_tiles = mode == decltype(mode){};
}  // namespace ttnn_rs

namespace ckernel {

// Sums, differences, products.

template <
    EltwiseBinaryType eltwise_binary_type, BroadcastType src_b_bcast_type, MathFidelity math_fidelity,
    EltwiseBinaryReuseDestType binary_reuse_dest = EltwiseBinaryReuseDestType::NONE>
FORCE_INLINE void llk_math_eltwise_binary_init(
    const std::uint32_t operand_A, const std::uint32_t operand_B, const std::uint32_t acc_to_dest = 0) {
    ttnn_rs::check_step<eltwise_binary_type>();
    constexpr ttnn_rs::Step step = ttnn_rs::step(eltwise_binary_type);
    tt_call_eltwise_init(
        step, ttnn_rs::broadcast(src_b_bcast_type), acc_to_dest != 0 || step == ttnn_rs::MUL, operand_A, operand_B);
}
template <EltwiseBinaryType eltwise_binary_type, BroadcastType src_b_bcast_type, auto... options>
FORCE_INLINE void llk_math_eltwise_binary_init() {
    ttnn_rs::check_step<eltwise_binary_type>();
    ttnn_rs::pending_init = {true, ttnn_rs::step(eltwise_binary_type), src_b_bcast_type};
}
template <BroadcastType BType = BroadcastType::NONE>
FORCE_INLINE void llk_unpack_AB_init(
    const std::uint32_t operandA, const std::uint32_t operandB,
    [[maybe_unused]] const Transpose transpose = Transpose::None) {
    const ttnn_rs::PendingInit init = ttnn_rs::pending_init;
    if (init.waits) {
        ttnn_rs::pending_init.waits = false;
        tt_call_eltwise_init(
            init.step, ttnn_rs::broadcast(init.type), init.step == ttnn_rs::MUL, operandA, operandB);
    }
}

// Reductions.

template <PoolType type, ReduceDim dim, bool is_fp32_dest_acc_en, MathFidelity math_fidelity>
FORCE_INLINE void llk_math_reduce_init(const std::uint32_t operandA, const std::uint32_t operandB) {
    tt_call_reduce_init(ttnn_rs::pool<type>(), ttnn_rs::dimension(dim), operandA, operandB);
}
template <PoolType pool_type, ReduceDim reduce_dim>
FORCE_INLINE void llk_unpack_AB_reduce_init(const std::uint32_t, const std::uint32_t) {}
template <ReduceDim dim, PackMode pack_mode = PackMode::Default>
FORCE_INLINE void llk_pack_reduce_mask_config(std::uint32_t) {}
FORCE_INLINE void llk_pack_reduce_mask_clear() { tt_call_reduce_uninit(); }

// Formats.

template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_unpack_reconfig_data_format_srca(const std::uint32_t new_operand) {
    tt_call_reconfig_data_format(new_operand, -1, -1, -1);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_unpack_reconfig_data_format_srca(const std::uint32_t old_operand, const std::uint32_t new_operand) {
    tt_call_reconfig_data_format(new_operand, -1, old_operand, -1);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_unpack_reconfig_data_format_srcb(const std::uint32_t new_operand) {
    tt_call_reconfig_data_format(-1, new_operand, -1, -1);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_unpack_reconfig_data_format(const std::uint32_t new_a, const std::uint32_t new_b) {
    tt_call_reconfig_data_format(new_a, new_b, -1, -1);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_unpack_reconfig_data_format(
    const std::uint32_t old_a, const std::uint32_t new_a, const std::uint32_t old_b, const std::uint32_t new_b) {
    tt_call_reconfig_data_format(new_a, new_b, old_a, old_b);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options, typename... Operands>
FORCE_INLINE void llk_math_reconfig_data_format_srca(Operands...) {}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options, typename... Operands>
FORCE_INLINE void llk_math_reconfig_data_format_srcb(Operands...) {}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options, typename... Operands>
FORCE_INLINE void llk_math_reconfig_data_format(Operands...) {}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_pack_reconfig_data_format(const std::uint32_t new_output) {
    tt_call_pack_reconfig_data_format(new_output, -1);
}
template <bool is_fp32_dest_acc_en = DST_ACCUM_MODE, auto... options>
FORCE_INLINE void llk_pack_reconfig_data_format(const std::uint32_t old_output, const std::uint32_t new_output) {
    tt_call_pack_reconfig_data_format(new_output, old_output);
}

// Copies.

template <
    DataCopyType type, bool is_fp32_dest_acc_en, BroadcastType src_b_bcast_type = BroadcastType::NONE,
    bool is_int_fpu_en = false, PackMode pack_mode = PackMode::Default>
FORCE_INLINE void llk_math_eltwise_unary_datacopy_init(const std::uint32_t) {}
template <
    BroadcastType BType = BroadcastType::NONE, bool acc_to_dest = false,
    EltwiseBinaryReuseDestType binary_reuse_dest = EltwiseBinaryReuseDestType::NONE, bool unpack_to_dest = false>
FORCE_INLINE void llk_unpack_A_init(
    const std::uint32_t transpose_of_faces, [[maybe_unused]] const std::uint32_t within_face_16x16_transpose,
    const std::uint32_t operand) {
    if constexpr (BType == BroadcastType::NONE) {
        tt_call_copy_init(operand, transpose_of_faces != 0);
    } else {
        tt_call_unary_bcast_init(ttnn_rs::broadcast(BType), operand);
    }
}
template <
    BroadcastType BType = BroadcastType::NONE, bool acc_to_dest = false,
    EltwiseBinaryReuseDestType binary_reuse_dest = EltwiseBinaryReuseDestType::NONE, bool unpack_to_dest = false>
FORCE_INLINE void llk_unpack_A(
    const std::uint32_t operand, const std::uint32_t tile_index, [[maybe_unused]] const std::uint32_t = 0) {
    tt_unpacked.bring(operand, tile_index);
}
template <
    DataCopyType type, bool is_fp32_dest_acc_en, BroadcastType src_b_bcast_type = BroadcastType::NONE,
    bool unpack_to_dest = false>
FORCE_INLINE void llk_math_eltwise_unary_datacopy(std::uint32_t dst_index, [[maybe_unused]] std::uint32_t operand = 0) {
    const auto [cb, tile] = tt_unpacked.take();
    if constexpr (src_b_bcast_type == BroadcastType::NONE) {
        tt_call_copy_tile(cb, tile, dst_index);
    } else {
        tt_call_unary_bcast(ttnn_rs::broadcast(src_b_bcast_type), cb, tile, dst_index);
    }
}

// The packer.

FORCE_INLINE void llk_pack_reconfig_l1_acc(const std::uint32_t enable) { tt_call_pack_reconfig_l1_acc(enable != 0); }
FORCE_INLINE void llk_pack_relu_config(const ReluConfig& config) {
    tt_call_pack_relu_config(static_cast<std::uint32_t>(config.get_mode()), config.get_threshold() & 0xFFFF);
}
template <
    auto pack_mode = PackMode::Default, bool zero_output = false, bool skip_addrmod_config = false,
    bool skip_packer_strides = false>
FORCE_INLINE void llk_pack_init([[maybe_unused]] const std::uint32_t pack_output, [[maybe_unused]] std::uint32_t = 1) {
    static_assert(ttnn_rs::packs_tiles<pack_mode>, "llk_pack_init: use pack_untilize_dest_init to untilize");
    tt_call_pack_untilize_mode(0, 0);
}
template <bool is_fp32_dest_acc_en, bool out_of_order_output = false, auto pack_mode = PackMode::Default>
FORCE_INLINE void llk_pack(std::uint32_t tile_index, std::uint32_t output, std::uint32_t output_tile_index = 0) {
    static_assert(ttnn_rs::packs_tiles<pack_mode>, "llk_pack: use pack_untilize_dest to untilize");
    tt_call_pack_tile(tile_index, output, out_of_order_output ? static_cast<std::int32_t>(output_tile_index) : -1);
}

// Circular buffers by their llk names.

FORCE_INLINE void llk_wait_tiles(int operand, std::int32_t num_tiles) { tt_call_cb_wait_front(operand, num_tiles); }
FORCE_INLINE void llk_pop_tiles(std::int32_t operand, std::int32_t num_tiles, [[maybe_unused]] std::int32_t block_c_dim = 0) {
    tt_call_cb_pop_front(operand, num_tiles);
}
template <auto... options>
FORCE_INLINE void llk_wait_for_free_tiles(const std::int32_t operand, const std::int32_t num_tiles) {
    tt_call_cb_reserve_back(operand, num_tiles);
}
template <auto... options>
FORCE_INLINE void llk_push_tiles(const std::int32_t operand, const std::int32_t num_tiles) {
    tt_call_cb_push_back(operand, num_tiles);
}

}  // namespace ckernel

#endif

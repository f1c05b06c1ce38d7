// Compute: Dst 0 = tanh(CB 0) by a function of our own, packed to CB 16.
#include "compute_kernel_api.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/tile_move_copy.h"

#ifdef TRISC_MATH
// A face: 8 registers of 32 lanes. tanh(|x|) is a polynomial that is cut off at 1; the sign comes back at the end.
inline void tanh_face() {
    for (int i = 0; i < 8; ++i) {
        vFloat x = dst_reg[0];
        vFloat a = sfpi::abs(x);
        vFloat p = a * 0.00587673392f + -0.0666490197f;
        p = p * a + 0.281917632f;
        p = p * a + -0.489065975f;
        p = p * a + 0.0308974385f;
        p = p * a + 0.999004364f;
        p = p * a;
        vFloat one = 1.0f;
        vec_min_max(p, one);
        dst_reg[0] = float_to_fp16b(setsgn(p, x), RoundMode::NearestEven);
        dst_reg++;
    }
}
#endif

inline void my_tanh_tile(uint32_t idst) {
    MATH((_llk_math_eltwise_unary_sfpu_params_<false>(tanh_face, idst, (int)VectorMode::RC)));
}

namespace NAMESPACE {
void MAIN {
    constexpr uint32_t tiles = get_compile_time_arg_val(0);
    constexpr auto in = tt::CBIndex::c_0;
    constexpr auto out = tt::CBIndex::c_16;

    init_sfpu(in, out);
    for (uint32_t tile = 0; tile < tiles; ++tile) {
        cb_wait_front(in, 1);
        tile_regs_acquire();
        copy_tile(in, 0, 0);
        my_tanh_tile(0);
        tile_regs_commit();
        cb_pop_front(in, 1);
        cb_reserve_back(out, 1);
        tile_regs_wait();
        pack_tile(0, out);
        tile_regs_release();
        cb_push_back(out, 1);
    }
}
}  // namespace NAMESPACE

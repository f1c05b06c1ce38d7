// A hyperbolic tangent of our own, one operation on 32 lanes after the other.
#pragma once

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

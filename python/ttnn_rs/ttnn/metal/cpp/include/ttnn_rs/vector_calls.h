// Calls of vector operations, and the numbers of functions in them.
#pragma once

#include "ttnn_rs/base.h"

extern "C" {
tt_word tt_call_sfpi_word(tt_word word);
tt_word tt_call_sfpi_constant(tt_word constant);
void tt_call_sfpi_program(tt_word constant, tt_word value);
tt_word tt_call_sfpi_load(std::int32_t address, tt_word memory);
void tt_call_sfpi_store(std::int32_t address, tt_word memory, tt_word value);
tt_word tt_call_sfpi_multiply(tt_word a, tt_word b);
tt_word tt_call_sfpi_add(tt_word a, tt_word b);
tt_word tt_call_sfpi_subtract(tt_word a, tt_word b);
tt_word tt_call_sfpi_unary(tt_word function, tt_word a, tt_word stochastic);
tt_word tt_call_sfpi_binary(tt_word function, tt_word a, tt_word b);
tt_word tt_call_sfpi_lines(tt_word table, tt_word keep_sign, tt_word v, tt_word count, const tt_word* lines);
tt_word tt_call_sfpi_compare(tt_word compare, tt_word a, tt_word b);
tt_word tt_call_sfpi_join(tt_word join, tt_word a, tt_word b);
tt_word tt_call_sfpi_assign(tt_word before, tt_word after);
tt_word tt_call_sfpi_select(tt_word mask, tt_word yes, tt_word no);
void tt_call_sfpi_begin();
void tt_call_sfpi_narrow(tt_word mask);
void tt_call_sfpi_otherwise();
void tt_call_sfpi_end();
void tt_call_sfpi_start(tt_word tile);
void tt_call_sfpi_advance(std::int32_t rows);
}

namespace ttnn_rs {

enum Unary : tt_word {
    NEGATE,
    MAGNITUDE,
    INTEGER_MAGNITUDE,
    NOT,
    EXPONENT,
    UNBIASED_EXPONENT,
    MANTISSA,
    WHOLE_MANTISSA,
    LEADING_ZEROS,
    LEADING_ZEROS_OF_MAGNITUDE,
    FLOAT_OF_INTEGER,
    ROUND_BF16,
    ROUND_FP16,
    ROUND_UINT8,
    ROUND_INT8,
    ROUND_UINT16,
    ROUND_INT16,
    TWOS_COMPLEMENT,
    SIGN_AND_MAGNITUDE,
};
enum Binary : tt_word {
    INTEGER_ADD,
    INTEGER_SUBTRACT,
    AND,
    OR,
    XOR,
    SHIFT,
    SET_EXPONENT,
    COPY_EXPONENT,
    SET_MANTISSA,
    COPY_SIGN,
    ADD_EXPONENT,
    MINIMUM,
    MAXIMUM,
};
enum Compare : tt_word {
    LESS,
    GREATER_EQUAL,
    EQUAL,
    NOT_EQUAL,
    GREATER,
    LESS_EQUAL,
    INTEGER_LESS,
    INTEGER_GREATER_EQUAL,
    INTEGER_EQUAL,
    INTEGER_NOT_EQUAL,
    INTEGER_GREATER,
    INTEGER_LESS_EQUAL,
    UNSIGNED_LESS,
    UNSIGNED_GREATER_EQUAL,
    UNSIGNED_GREATER,
    UNSIGNED_LESS_EQUAL,
};
enum Memory : tt_word { FLOAT, SIGN_MAGNITUDE, WORD, LOW_HALF };
enum Table : tt_word { BYTES, HALVES };
enum Constant : tt_word { CLOSE, ZERO, ONE, PROGRAM_0, PROGRAM_1, PROGRAM_2, PROGRAM_3, LANE_NUMBER };

FORCE_INLINE std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// A float16, without infinities and denormals, as the unit loads it.
FORCE_INLINE std::uint32_t float_of_half(std::uint32_t half) {
    const std::uint32_t exponent = half >> 10 & 31;
    return (half >> 15 & 1) << 31 | (exponent == 0 ? 0 : exponent + 112) << 23 | (half & 1023) << 13;
}

}  // namespace ttnn_rs

// Arrays of compile-time arguments.
#pragma once

#include "api/compile_time_args.h"

template <typename T, std::size_t ELEM_START_IDX, std::size_t NUM_ELEMS_TO_TAKE>
constexpr std::array<T, NUM_ELEMS_TO_TAKE> fill_array_with_next_n_args() {
    static_assert(
        ELEM_START_IDX + NUM_ELEMS_TO_TAKE <= kernel_compile_time_args.size(), "the host gave fewer arguments");
    std::array<T, NUM_ELEMS_TO_TAKE> taken{};
    for (std::size_t i = 0; i < NUM_ELEMS_TO_TAKE; ++i) {
        taken[i] = static_cast<T>(kernel_compile_time_args[ELEM_START_IDX + i]);
    }
    return taken;
}
template <std::size_t NUM_TO_TAKE, std::size_t IN_ARRAY_SIZE, typename T>
constexpr std::array<T, NUM_TO_TAKE> take_first_n_elements(const std::array<T, IN_ARRAY_SIZE>& arr_in) {
    static_assert(NUM_TO_TAKE <= IN_ARRAY_SIZE, "take_first_n_elements: the array has fewer elements");
    std::array<T, NUM_TO_TAKE> taken{};
    std::copy_n(arr_in.begin(), NUM_TO_TAKE, taken.begin());
    return taken;
}
template <std::size_t N, typename T, T init>
constexpr std::array<T, N> initialize_array() {
    std::array<T, N> filled{};
    filled.fill(init);
    return filled;
}
template <bool GET_THE_ARG, std::size_t ARG_IDX>
constexpr std::size_t conditional_get_compile_time_arg() {
    if constexpr (GET_THE_ARG) {
        return get_compile_time_arg_val(ARG_IDX);
    } else {
        return 0;
    }
}

// Compile-time arguments: by position, by name, and the whole array.
#pragma once

#include "ttnn_rs/base.h"

#ifndef KERNEL_COMPILE_TIME_ARGS
#define KERNEL_COMPILE_TIME_ARGS
#endif

template <class T, class... Ts>
FORCE_INLINE constexpr std::array<T, sizeof...(Ts)> make_array(Ts... values) {
    return {static_cast<T>(values)...};
}

constexpr auto kernel_compile_time_args = make_array<std::uint32_t>(KERNEL_COMPILE_TIME_ARGS);

template <std::uint32_t Index>
constexpr std::uint32_t get_ct_arg() {
    static_assert(Index < kernel_compile_time_args.size(), "get_compile_time_arg_val: the host gave fewer arguments");
    return kernel_compile_time_args[Index];
}

#define get_compile_time_arg_val(arg_idx) get_ct_arg<arg_idx>()

namespace ttnn_rs {

struct NamedArgument {
    std::string_view name;
    std::uint32_t value;
};

#ifdef KERNEL_COMPILE_TIME_ARG_MAP
constexpr NamedArgument named_arguments[] = {KERNEL_COMPILE_TIME_ARG_MAP};
#else
constexpr std::array<NamedArgument, 0> named_arguments{};
#endif

// Not constexpr: a call during constant evaluation is the error that names the argument.
inline std::uint32_t the_host_gave_no_argument_of_this_name() { return 0; }

}  // namespace ttnn_rs

consteval std::uint32_t get_named_compile_time_arg_val(std::string_view name) {
    for (const auto& argument : ttnn_rs::named_arguments) {
        if (argument.name == name) {
            return argument.value;
        }
    }
    return ttnn_rs::the_host_gave_no_argument_of_this_name();
}

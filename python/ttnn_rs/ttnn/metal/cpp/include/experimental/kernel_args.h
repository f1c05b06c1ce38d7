// Arguments with names: the generated header has one constant for each.
#pragma once

#include "ttnn_rs/arguments.h"

#define TT_KERNEL static FORCE_INLINE

namespace experimental {

template <typename T>
struct RtaArg {
    std::uint32_t byte_offset;
};
template <typename T>
struct CrtaArg {
    std::uint32_t byte_offset;
};
template <typename T>
struct CtaVal {
    T value;
};

template <typename T>
FORCE_INLINE T get_arg(RtaArg<T> arg) {
    return ::get_arg_val<T>(arg.byte_offset / 4);
}
template <typename T>
FORCE_INLINE T get_arg(CrtaArg<T> arg) {
    return ::get_common_arg_val<T>(arg.byte_offset / 4);
}
template <typename T>
FORCE_INLINE constexpr T get_arg(CtaVal<T> arg) {
    return arg.value;
}

}  // namespace experimental

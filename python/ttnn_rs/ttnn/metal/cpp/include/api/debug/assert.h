// Checks of kernels. They are live: what does not hold ends the program with file, line and text.
#pragma once

#include "ttnn_rs/base.h"

namespace ttnn_rs {
FORCE_INLINE void check(bool holds, const char* file, std::uint32_t line, const char* text) {
    if (!holds) {
        tt_call_assert_failed(file, line, text);
    }
}
}  // namespace ttnn_rs

#define ASSERT(condition, ...) ttnn_rs::check(static_cast<bool>(condition), __FILE__, __LINE__, #condition)
#define LLK_ASSERT(condition, message) ttnn_rs::check(static_cast<bool>(condition), __FILE__, __LINE__, message)

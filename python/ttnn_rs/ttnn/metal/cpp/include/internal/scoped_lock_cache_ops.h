// Caches that this chip does not have.
#pragma once

#include "ttnn_rs/base.h"

FORCE_INLINE void scoped_lock_acquire_cache_ops(std::uintptr_t, std::uint32_t) {}
FORCE_INLINE void scoped_lock_release_cache_ops(std::uintptr_t, std::uint32_t) {}

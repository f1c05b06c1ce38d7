// Calls a function at the end of a scope.
#pragma once

#include "ttnn_rs/base.h"

template <typename ReleaseFunc>
class Lock {
public:
    FORCE_INLINE Lock(ReleaseFunc release) : release(release) {}
    FORCE_INLINE ~Lock() { release(); }
    Lock(const Lock&) = delete;
    Lock(Lock&&) = delete;
    Lock& operator=(const Lock&) = delete;
    Lock& operator=(Lock&&) = delete;

private:
    ReleaseFunc release;
};

// What a compute kernel knows without an include: registers, circular buffers, constants of its configuration.
#pragma once

#include "api/debug/assert.h"
#include "api/debug/dprint.h"
#include "api/debug/kernel_profiler.hpp"
#include "api/debug/waypoint.h"
#include "hostdevcommon/common_values.hpp"
#include "hostdevcommon/kernel_structs.h"
#include "ttnn_rs/arguments.h"
#include "ttnn_rs/cb.h"
#include "ttnn_rs/compute_enums.h"
#include "ttnn_rs/refused.h"
#include "ttnn_rs/risc.h"
#include "ttnn_rs/threads.h"

constexpr MathFidelity MATH_FIDELITY = MathFidelity::TTNN_RS_FIDELITY;
constexpr bool APPROX = TTNN_RS_APPROX;
constexpr bool DST_ACCUM_MODE = TTNN_RS_DST32;
constexpr DstSync DST_SYNC_MODE = TTNN_RS_FULL_SYNC ? DstSync::SyncFull : DstSync::SyncHalf;
// Kernels ask whether these are defined.
#define DST_ACCUM_MODE DST_ACCUM_MODE
#define DST_SYNC_MODE DST_SYNC_MODE

// The three threads run as one.
#define UNPACK(...) __VA_ARGS__
#define MATH(...) __VA_ARGS__
#define PACK(...) __VA_ARGS__

// Heads of the older form of a compute kernel: namespace NAMESPACE { void MAIN { ... } }
#define NAMESPACE chlkc_kernel
#define MAIN joined_main()
namespace chlkc_kernel {
__attribute__((used)) void joined_main();  // emitted where it is inline too
}

#include "api/compute/compute_kernel_api.h"
#include "ttnn_rs/math_thread.h"

// Functions of compute kernels but reductions: these take their defaults from defines of the kernel, so it includes them.
#pragma once

#include "api/compute/bcast.h"
#include "api/compute/common.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/tilize.h"
#include "api/compute/transpose.h"
#include "ttnn_rs/llk.h"
#include "ttnn_rs/refused.h"
#include "ttnn_rs/sfpu_special.h"

#ifdef COMPILE_FOR_TRISC
#include "sfpi.h"
// Kernels name vectors without their namespace.
using namespace sfpi;
#endif

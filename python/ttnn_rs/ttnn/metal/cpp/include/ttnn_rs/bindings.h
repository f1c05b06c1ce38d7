// What the generated header of names needs.
#pragma once

#include "api/dataflow/dfb_binding_token.h"
#include "api/scratchpad.h"
#include "api/semaphore.h"
#include "api/tensor/tensor_accessor.h"
#include "experimental/kernel_args.h"

using experimental::get_arg;

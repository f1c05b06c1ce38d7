// Objects that were in a namespace of their own before they had their present place.
#pragma once

#include "api/core_local_mem.h"
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/dataflow_buffer.h"
#include "api/lock.h"
#ifndef COMPILE_FOR_TRISC
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/endpoints.h"
#include "api/dataflow/noc.h"
#include "api/semaphore.h"
#endif

namespace experimental {

using ::CircularBuffer;
using ::CoreLocalMem;
using ::DataflowBuffer;
using ::Lock;
#ifndef COMPILE_FOR_TRISC
using ::AllocatorBank;
using ::AllocatorBankType;
using ::MulticastEndpoint;
using ::Noc;
using ::noc_traits_t;
using ::Semaphore;
using ::UnicastEndpoint;
using ::use;
#endif

}  // namespace experimental

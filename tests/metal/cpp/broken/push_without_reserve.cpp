// CircularBufferError: call cb_reserve_back(0, 1) first
#include "dataflow_api.h"

void kernel_main() {
    cb_push_back(0, 1);  // bug
}

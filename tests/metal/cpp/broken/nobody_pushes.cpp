// DeadlockError: cb_wait_front(0, 1)
#include "dataflow_api.h"

void kernel_main() {
    cb_wait_front(0, 1);  // bug
}

// UnsupportedError: mailbox_write: the three threads of a compute kernel run as one, so they have no mailboxes
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr bool never = false;
    if constexpr (never) {
        ckernel::mailbox_read(ckernel::ThreadId::BriscThreadId);
    }
    ckernel::mailbox_write(ckernel::ThreadId::UnpackThreadId, 1);  // bug
}

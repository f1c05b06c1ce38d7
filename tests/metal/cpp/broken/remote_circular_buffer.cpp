// UnsupportedError: circular buffers between cores are for Python kernels so far
#include "api/remote_circular_buffer.h"

void kernel_main() {
    experimental::remote_cb_wait_front(3, 1);  // bug
}

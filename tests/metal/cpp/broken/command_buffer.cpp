// UnsupportedError: NOC_CMD_BUF_WRITE_REG: the NoC's command buffers are not modelled
#include "dataflow_api.h"

void kernel_main() {
    NOC_CMD_BUF_WRITE_REG(0, 0, 0, 1);  // bug
}

// Commands whose targets are pages, the same as on a line.
#pragma once

#include "tt_metal/fabric/hw/inc/linear/addrgen_api.h"

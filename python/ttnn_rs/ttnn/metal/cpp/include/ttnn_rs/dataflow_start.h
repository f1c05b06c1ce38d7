// What a data-movement kernel knows without an include.
#pragma once

#include "api/dataflow/dataflow_api.h"
#include "api/debug/dprint.h"

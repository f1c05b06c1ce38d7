#pragma once
#include "ttnn_rs/base.h"

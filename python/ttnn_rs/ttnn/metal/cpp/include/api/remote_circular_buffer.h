#pragma once
#include "ttnn_rs/cb.h"

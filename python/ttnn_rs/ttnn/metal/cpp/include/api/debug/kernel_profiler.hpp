// Zones of a card's profiler; the report of a run has the time of every call without them.
#pragma once

#include "ttnn_rs/base.h"

#define DeviceZoneScopedN(name)
#define DeviceZoneScopedMainN(name)
#define DeviceZoneScopedMainChildN(name)
#define DeviceZoneScopedSumN1(name)
#define DeviceZoneScopedSumN2(name)
#define DeviceZoneSetCounter(counter)
#define DeviceTimestampedData(name, data) static_cast<void>(data)
#define DeviceRecordEvent(event) static_cast<void>(event)

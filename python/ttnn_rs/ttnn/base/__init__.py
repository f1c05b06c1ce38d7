"""Values that know nothing of devices: enumerations, shapes, tiles, core ranges, configurations, errors."""

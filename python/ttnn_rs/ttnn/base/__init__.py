"""Values that do not depend on devices: enumerations, shapes, tiles, core ranges, configurations, errors."""

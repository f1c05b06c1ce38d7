//! Number formats: what a bit pattern means, how a value is rounded into one, and the order of datums in a tile.

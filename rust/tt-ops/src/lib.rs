//! Operators as the device programs execute them.

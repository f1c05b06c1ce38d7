//! What the engine asks of the host: CPU levels, vector dispatch, a worker pool, reserved memory.

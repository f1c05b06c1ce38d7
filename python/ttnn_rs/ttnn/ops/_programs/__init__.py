"""Device programs that several categories of operators share."""

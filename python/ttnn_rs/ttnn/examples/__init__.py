"""Programs that use the package as its users do."""

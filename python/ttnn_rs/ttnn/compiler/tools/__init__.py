"""The command-line tools of the compiler layer."""

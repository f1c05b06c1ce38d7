"""`python -m ttnn_run`."""

from ttnn_run import main

main()

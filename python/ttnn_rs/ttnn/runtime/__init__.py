"""Programs of operators: what tells calls apart, how a call becomes a program, and how a program is launched."""

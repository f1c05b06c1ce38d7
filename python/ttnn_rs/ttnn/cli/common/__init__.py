"""What subcommands share: the terminal, options about the host, units in the last place."""

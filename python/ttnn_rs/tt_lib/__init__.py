"""Official package `tt_lib`: host helpers that tests share."""

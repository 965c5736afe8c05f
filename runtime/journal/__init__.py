"""What happened in a run, kept so that it survives the program."""

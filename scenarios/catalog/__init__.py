"""One scenario a file; the file, the function and the name on the command line are the same word."""

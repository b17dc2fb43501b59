"""What users run: the catalog, scene files, running and recording, the command line."""

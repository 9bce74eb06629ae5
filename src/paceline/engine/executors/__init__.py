"""Places where attempts are carried out, each behind the Executor port, one file a place."""

"""Templates: checks and judgements that have names, with what each needs and what comes out of it."""

"""The data of a dataset: cases, what they are known by, and the files they stand in.

`case` and `spec` say what there is; `identity` gives each case its name; `files` reads and writes YAML and
JSON as Pydantic Evals does; `rows` streams JSONL and CSV. Knows how evaluators are written, not what they do.
"""

"""Reference question answering: a question must find the passages judged to support its answer."""

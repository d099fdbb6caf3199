"""Benchmark tasks, one folder each: all that is known of a task, declared as a Task in its `task.py`."""

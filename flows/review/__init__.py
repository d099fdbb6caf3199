"""The review of candidates by people and by a model: server, queues, answers, verdicts, agreement, judge."""

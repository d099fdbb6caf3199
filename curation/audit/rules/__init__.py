"""The rules of the audit, grouped by what they look at; `RULES` of each module in the order they run."""

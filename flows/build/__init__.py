"""From crawled articles to tasks: extract, ground, build, the partition."""

"""The crawl: what to fetch, fetched politely, every byte and every reason kept."""

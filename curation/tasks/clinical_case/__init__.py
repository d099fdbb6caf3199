"""Clinical case retrieval: from findings, the diagnosis hidden, to other patients with the same disease."""

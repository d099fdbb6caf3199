"""Contracts: record types, ids, grades, overlap, licences, stages, errors. Imports nothing of ours."""

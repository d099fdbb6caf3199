"""Prints the licence of every package in the running environment, as its own metadata state it.

`python -m scripts.licences`; `make sbom` writes it beside the bills of materials.
"""

from __future__ import annotations

from importlib.metadata import PackageMetadata, distributions


def licence(metadata: PackageMetadata) -> str:
    """The SPDX expression of a package, else its classifiers, else the first line of its licence text."""
    if stated := metadata.get_all("License-Expression"):
        return str(stated[0])
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    text = str((metadata.get_all("License") or [""])[0]).strip()
    return "; ".join(classified) or (text.splitlines()[0][:80] if text else "not stated")


def table() -> str:
    """A Markdown table of all packages, sorted by name."""
    rows = {
        str(one.metadata["Name"]).lower(): (one.version, licence(one.metadata)) for one in distributions()
    }
    lines = ["| package | version | licence |", "|---|---|---|"]
    lines += [
        f"| {name} | {version} | {said} |".replace("\n", " ")
        for name, (version, said) in sorted(rows.items())
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

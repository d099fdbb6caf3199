"""A Hugging Face Hub on loopback: the protocol that huggingface_hub 2.4 and datasets 5.2 speak, and faults.

Every endpoint was read from their source. Both transfers work: LFS, and hf_xet through `local://`.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from sources.sample.loopback import NO_ANSWER, LoopbackServer, Reply, Request
from tests.flows.publish.hub_collections import Collections
from tests.flows.publish.hub_protocol import ROUTES, Refusal, as_bytes, as_json, query_of
from tests.flows.publish.hub_repository import Blob, Commit, Repository, XetStore, large

TOKEN = "hf_" + "TestTokenOfTheLoopbackHub" * 2
USER, ORGANIZATION = "maintainer", "acme"
PAGE = 50
EFFECTS = frozenset(
    {
        "create",
        "lfs-put",
        "commit",
        "tag",
        "tag-delete",
        "squash",
        "lfs-delete",
        "settings",
        "collection-create",
        "collection-item",
        "collection-item-delete",
    }
)
"""Endpoints that change what others see, or what is kept."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What befalls one request: `status` refuses it, `reset` ends the connection before it has an effect,
    `lost` after it, `slow` answers late.
    """

    kind: str
    status: int = 500
    retry_after: str = ""
    seconds: float = 0.0


Faults = Callable[[str, int], Fault | None]
"""(name of the endpoint, n-th request to it, from 1) -> what goes wrong."""
Watcher = Callable[[str, str], None]
"""(name of the endpoint, "before" or "after"), of requests in `EFFECTS`."""


class HubServer(LoopbackServer):
    """Context manager. `repositories` and `collections` are what it holds."""

    name = "hub"

    def __init__(self, faults: Faults = lambda name, count: None) -> None:
        self.faults = faults
        self.watch: Watcher = _nobody
        self.repositories: dict[str, Repository] = {}
        self.collections = Collections()
        self.served: list[tuple[str, str, int]] = []
        """(endpoint, path, status); 0 for a connection that was ended."""
        self.tokens = {TOKEN: "write"}
        self.asked: Counter[str] = Counter()
        self.lock = threading.RLock()
        self.scratch = tempfile.TemporaryDirectory(prefix="hub-server-")
        self.xet = XetStore(Path(self.scratch.name) / "cas")

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.scratch.cleanup()

    def environment(self, home: Path, *, xet: bool = True) -> dict[str, str]:
        """What a client's environment needs."""
        return {
            "HF_ENDPOINT": self.root,
            "HF_TOKEN": TOKEN,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_HUB_DISABLE_XET": "0" if xet else "1",
            "HF_HUB_OFFLINE": "0",
        }

    def count(self, name: str) -> int:
        """Requests to an endpoint that were answered well."""
        return sum(1 for served, _, status in self.served if served == name and 200 <= status < 400)

    def answer(self, request: Request) -> Reply:
        """Route one request, or let a fault befall it."""
        path = urlsplit(request.target).path
        for method, pattern, name in ROUTES:
            found = re.fullmatch(pattern, path)
            if found and request.method in method.split("|"):
                reply = self._routed(
                    request, name, {key: unquote(text) for key, text in found.groupdict().items() if text}
                )
                self.served.append((name, path, reply.status))
                return reply
        self.served.append(("unknown", f"{request.method} {path}", 404))
        return as_json({"error": f"no such page: {path}"}, 404)

    def _routed(self, request: Request, name: str, given: dict[str, str]) -> Reply:
        with self.lock:
            self.asked[name] += 1
            fault = self.faults(name, self.asked[name])
        if fault and fault.kind == "reset":
            return Reply(NO_ANSWER, is_reset=True)
        if fault and fault.kind == "status":
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            return as_json({"error": f"fault {fault.status}"}, fault.status, headers)
        if fault and fault.kind == "slow":
            time.sleep(fault.seconds)
        with self.lock:  # before and after see what no other request changes
            if name in EFFECTS:
                self.watch(name, "before")
            reply = self._handled(request, name, given)
            if name in EFFECTS:
                self.watch(name, "after")
        return Reply(NO_ANSWER, is_reset=True) if fault and fault.kind == "lost" else reply

    def _handled(self, request: Request, name: str, given: dict[str, str]) -> Reply:
        try:
            reply: Reply = getattr(self, "_" + name.replace("-", "_"))(request, **given)
        except Refusal as refusal:
            headers = {"X-Error-Message": refusal.message} | (
                {"X-Error-Code": refusal.code} if refusal.code else {}
            )
            return as_json({"error": refusal.message}, refusal.status, headers)
        return reply

    def role(self, request: Request) -> str:
        """What the token of a request may do, '' without one."""
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if given and given not in self.tokens:
            raise Refusal(401, "Invalid credentials in Authorization header")
        return self.tokens.get(given, "")

    def check_writes(self, request: Request, owner: str) -> None:
        """Refuse who may not write in a namespace."""
        role = self.role(request)
        if not role:
            raise Refusal(401, "Invalid username or password.")
        if role != "write" or owner not in (USER, ORGANIZATION):
            raise Refusal(403, f"You don't have the rights to write in the namespace {owner!r}")

    def repository(self, request: Request, id: str, *, writes: bool = False) -> Repository:
        """The repository a request may see."""
        found = self.repositories.get(id)
        if found is None or (found.is_private and not self.role(request)):
            raise Refusal(404 if self.role(request) else 401, "Repository not found", "RepoNotFound")
        if writes:
            self.check_writes(request, id.partition("/")[0])
        return found

    def commit_at(self, repository: Repository, revision: str) -> Commit:
        """A commit by branch, tag or id."""
        found = repository.at(revision)
        if found is None:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return found

    def _whoami(self, request: Request) -> Reply:
        role = self.role(request)
        if not role:
            raise Refusal(401, "Invalid username or password.")
        token = {"accessToken": {"displayName": "test", "role": role}}
        return as_json(
            {"type": "user", "name": USER, "orgs": [{"type": "org", "name": ORGANIZATION}], "auth": token}
        )

    def _create(self, request: Request) -> Reply:
        body = json.loads(request.body)
        owner = body.get("organization") or USER
        self.check_writes(request, owner)
        id = f"{owner}/{body['name']}"
        url = f"{self.root}/datasets/{id}"
        if body.get("type") != "dataset":
            raise Refusal(400, "this Hub keeps datasets only")
        if id in self.repositories:
            return as_json({"error": "You already created this dataset repo", "url": url}, 409)
        self.repositories[id] = Repository(id, body.get("visibility") == "private")
        return as_json({"url": url, "name": id, "id": id})

    def _settings(self, request: Request, id: str) -> Reply:
        repository = self.repository(request, id, writes=True)
        repository.is_private = json.loads(request.body).get("visibility") == "private"
        return as_json({"private": repository.is_private})

    def _info(self, request: Request, id: str, rev: str = "main") -> Reply:
        repository = self.repository(request, id)
        commit = self.commit_at(repository, rev)
        siblings = [{"rfilename": path} for path in sorted(commit.tree)]
        return as_json(
            {
                "_id": id,
                "id": id,
                "author": id.partition("/")[0],
                "sha": commit.oid,
                "private": repository.is_private,
                "lastModified": commit.listed()["date"],
                "siblings": siblings,
                "tags": [],
                "gated": False,
                "disabled": False,
                "downloads": 0,
                "likes": 0,
            }
        )

    def _refs(self, request: Request, id: str) -> Reply:
        repository = self.repository(request, id)

        def listed(kind: str, refs: dict[str, str]) -> list[dict[str, str]]:
            return [
                {"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": oid}
                for name, oid in sorted(refs.items())
            ]

        shown = {"branches": listed("heads", repository.branches), "tags": listed("tags", repository.tags)}
        return as_json({**shown, "converts": [], "pullRequests": []})

    def _commits(self, request: Request, id: str, rev: str) -> Reply:
        repository = self.repository(request, id)
        commits = [commit.listed() for commit in repository.history(self.commit_at(repository, rev))]
        return self._paged(request, commits)

    def _tree(self, request: Request, id: str, rev: str, folder: str = "") -> Reply:
        commit = self.commit_at(self.repository(request, id), rev)
        wanted = f"{folder}/" if folder else ""
        is_recursive = query_of(request).get("recursive", ["false"])[0].lower() == "true"
        files, folders = [], set()
        for path, blob in sorted(commit.tree.items()):
            if not path.startswith(wanted):
                continue
            parts = path[len(wanted) :].split("/")
            folders |= {wanted + "/".join(parts[:end]) for end in range(1, len(parts) if is_recursive else 2)}
            folders.discard(path)
            if is_recursive or len(parts) == 1:
                files.append(self._shown(path, blob))
        if folder and not files and not folders:
            raise Refusal(404, f"{folder} does not exist on {rev!r}", "EntryNotFound")
        shown = [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in sorted(folders)]
        return self._paged(request, [*shown, *files])

    def _paths_info(self, request: Request, id: str, rev: str) -> Reply:
        commit = self.commit_at(self.repository(request, id), rev)
        if "json" in request.headers.get("Content-Type", ""):
            paths = json.loads(request.body)["paths"]
        else:
            paths = parse_qs(request.body.decode())["paths"]
        found: list[dict[str, object]] = [
            self._shown(path, commit.tree[path]) for path in paths if path in commit.tree
        ]
        folders = {path for path in paths if any(name.startswith(f"{path}/") for name in commit.tree)}
        return as_json(
            found + [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in folders]
        )

    def _shown(self, path: str, blob: Blob) -> dict[str, object]:
        xet = self.xet.hash_of(blob.sha256) if blob.is_large else ""
        return blob.listed(path) | ({"xetHash": xet} if xet else {})

    def _validate_yaml(self, request: Request) -> Reply:
        content = json.loads(request.body)["content"]
        errors = [] if content.startswith("---\n") else [{"message": "no metadata"}]
        return as_json({"errors": errors, "warnings": []}, 400 if errors else 200)

    def _preupload(self, request: Request, id: str, rev: str) -> Reply:
        repository = self.repository(request, id, writes=True)
        commit = self.commit_at(repository, rev)
        files = []
        for file in json.loads(request.body)["files"]:
            held = commit.tree.get(file["path"])
            mode = repository.mode(file["path"], file["size"], base64.b64decode(file["sample"]))
            told = {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}
            files.append(told | ({"oid": held.etag} if held else {}))
        return as_json({"files": files, "commitOid": commit.oid})

    def _commit(self, request: Request, id: str, rev: str) -> Reply:
        repository = self.repository(request, id, writes=True)
        head = self.commit_at(repository, rev)
        lines = [json.loads(line) for line in request.body.splitlines()]
        header = lines[0]["value"]
        if header.get("parentCommit", head.oid) != head.oid:
            raise Refusal(412, "A commit has happened since. Please refresh and try again.")
        tree = dict(head.tree)
        for line in lines[1:]:
            self._apply(repository, tree, line["key"], line["value"])
        made = repository.commit(tree, header["summary"], header["description"], USER)
        url = f"{self.root}/datasets/{id}/commit/{made.oid}"
        return as_json({"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": ""})

    def _apply(self, repository: Repository, tree: dict[str, Blob], key: str, value: dict[str, Any]) -> None:
        path = value["path"]
        if key == "file":
            tree[path] = Blob(base64.b64decode(value["content"]))
        elif key == "lfsFile":
            sha256 = value["oid"]
            if sha256 not in repository.objects and not self.xet.hash_of(sha256):
                raise Refusal(400, f"LFS pointer pointed to a file that does not exist: {path}")
            tree[path] = large(sha256, value["size"])
        elif key == "deletedFile":
            if tree.pop(path, None) is None:
                raise Refusal(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
        else:
            raise Refusal(400, f"unknown operation {key}")

    def _tag(self, request: Request, id: str, rev: str) -> Reply:
        repository = self.repository(request, id, writes=True)
        commit, name = self.commit_at(repository, rev), json.loads(request.body)["tag"]
        if name in repository.tags:
            raise Refusal(409, f"Tag {name} already exists")
        repository.tags[name] = commit.oid
        return as_json({})

    def _tag_delete(self, request: Request, id: str, rev: str) -> Reply:
        repository = self.repository(request, id, writes=True)
        if repository.tags.pop(rev, None) is None:
            raise Refusal(404, f"Tag {rev} does not exist", "RevisionNotFound")
        return as_json({})

    def _squash(self, request: Request, id: str, rev: str) -> Reply:
        self.repository(request, id, writes=True).squash(json.loads(request.body)["message"])
        return as_json({})

    def _lfs_files(self, request: Request, id: str) -> Reply:
        repository = self.repository(request, id)
        found = {
            blob.sha256: (path, blob.size)
            for commit in repository.commits.values()
            for path, blob in commit.tree.items()
            if blob.is_large
        }
        found |= {
            name: ("", len(content)) for name, content in repository.objects.items() if name not in found
        }
        listed = [
            {
                "fileOid": name,
                "filename": path,
                "oid": "0" * 40,
                "size": size,
                "pushedAt": "2026-11-25T00:00:00.000Z",
            }
            for name, (path, size) in sorted(found.items())
        ]
        return self._paged(request, listed)

    def _lfs_delete(self, request: Request, id: str) -> Reply:
        asked = json.loads(request.body)["deletions"]
        repository = self.repository(request, id, writes=True)
        repository.delete_objects(set(asked["sha"]), rewrites=asked["rewriteHistory"])
        return as_json({})

    def _lfs_batch(self, request: Request, id: str) -> Reply:
        repository = self.repository(request, id, writes=True)
        objects = []
        for item in json.loads(request.body)["objects"]:
            told: dict[str, Any] = {"oid": item["oid"], "size": item["size"]}
            if item["oid"] not in repository.objects:
                put = {
                    "href": f"{self.root}/lfs/{quote(id, safe='')}/{item['oid']}?X-Amz-Signature=secret",
                    "header": {},
                }
                told["actions"] = {"upload": put, "verify": {"href": f"{self.root}/lfs-verify/{id}"}}
            objects.append(told)
        return as_json({"transfer": "basic", "objects": objects})

    def _lfs_put(self, request: Request, id: str, sha256: str) -> Reply:
        self.repositories[id].objects[sha256] = request.body
        return Reply(200)

    def _lfs_verify(self, request: Request, id: str) -> Reply:
        asked = json.loads(request.body)
        content = self.repository(request, id).objects.get(asked["oid"])
        if content is None or len(content) != asked["size"]:
            raise Refusal(404, "the object is not there")
        return as_json({})

    def _xet_token(self, request: Request, id: str, kind: str, rev: str) -> Reply:
        self.repository(request, id, writes=kind == "write")
        expires = int(time.time()) + 3600
        headers = {
            "X-Xet-Cas-Url": self.xet.url,
            "X-Xet-Access-Token": "t",
            "X-Xet-Token-Expiration": str(expires),
        }
        return as_json({"casUrl": self.xet.url, "accessToken": "t", "exp": expires}, 200, headers)

    def _resolve(self, request: Request, id: str, rev: str, file: str) -> Reply:
        commit = self.commit_at(self.repository(request, id), rev)
        headers = {"X-Repo-Commit": commit.oid, "Accept-Ranges": "bytes"}
        blob = commit.tree.get(file)
        if blob is None:
            raise Refusal(404, "Entry not found", "EntryNotFound")
        if not blob.is_large:
            return as_bytes(request, blob.content, headers | {"ETag": f'"{blob.etag}"'})
        linked = {"X-Linked-Etag": f'"{blob.sha256}"', "X-Linked-Size": str(blob.size)}
        if xet := self.xet.hash_of(blob.sha256):
            refresh = f"{self.root}/api/datasets/{id}/xet-read-token/{commit.oid}"
            linked |= {"X-Xet-Hash": xet, "Link": f'<{refresh}>; rel="xet-auth"'}
        elsewhere = self.root.replace("127.0.0.1", "localhost")  # of another host the client asks no more
        place = f"{elsewhere}/cdn/{quote(id, safe='')}/{blob.sha256}/{blob.size}"
        return Reply(302, b"", headers | linked | {"Location": place})

    def _cdn(self, request: Request, id: str, sha256: str, size: str) -> Reply:
        repository = self.repositories[id]
        if sha256 in repository.deleted:
            raise Refusal(404, "deleted")
        content = repository.objects.get(sha256)
        if content is None:
            content = self.xet.read(self.xet.hash_of(sha256), int(size), Path(self.scratch.name) / "read")
        return as_bytes(request, content, {"ETag": f'"{sha256}"'})

    def _collection_create(self, request: Request) -> Reply:
        body = json.loads(request.body)
        self.check_writes(request, body["namespace"])
        found = self.collections.create(**body)
        return as_json(found.shown(), 200)

    def _collection_list(self, request: Request) -> Reply:
        owner = query_of(request).get("owner", [""])[0]
        return as_json(self.collections.listed(owner, sees_private=bool(self.role(request))))

    def _collection(self, request: Request, slug: str) -> Reply:
        found = self.collections.held.get(slug)
        if found is None:
            raise Refusal(404, "Collection not found")
        return as_json(found.shown())

    def _collection_item(self, request: Request, slug: str) -> Reply:
        found, body = self.collections.held.get(slug), json.loads(request.body)
        if found is None:
            raise Refusal(404, "Collection not found")
        self.check_writes(request, found.owner)
        if any(item["id"] == body["item"]["id"] for item in found.items):
            raise Refusal(409, "Item already in the collection")
        found.add(**body["item"], note=body.get("note", ""))
        return as_json(found.shown())

    def _collection_item_delete(self, request: Request, slug: str, item: str) -> Reply:
        found = self.collections.held[slug]
        self.check_writes(request, found.owner)
        found.items = [one for one in found.items if one["_id"] != item]
        return as_json({})

    def _paged(self, request: Request, rows: list[Any]) -> Reply:
        query = query_of(request)
        start = int(query.get("cursor", ["0"])[0])
        headers = {}
        if start + PAGE < len(rows):
            others = "&".join(f"{key}={values[0]}" for key, values in query.items() if key != "cursor")
            path = urlsplit(request.target).path
            headers["Link"] = f'<{self.root}{path}?{others}&cursor={start + PAGE}>; rel="next"'
        return as_json(rows[start : start + PAGE], 200, headers)


def _nobody(name: str, when: str) -> None:
    """Nobody watches."""

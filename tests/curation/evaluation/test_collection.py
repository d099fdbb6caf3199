"""Reading a release: one split, pairs to leave out, facets; anything missing or damaged is named."""

from pathlib import Path

import pytest

from curation.evaluation.collection import check_images, open_collection, restricted
from curation.evaluation.requests import document_requests, picture_embeddings, query_requests
from schemas.errors import InputError, MedqrelsError, ReleaseError
from tests.curation.evaluation.world import Release, picture, toy


def test_a_split_with_its_labels_and_pairs_to_leave_out(tmp_path: Path) -> None:
    found = open_collection(toy().write(tmp_path))
    assert [query.id for query in found.queries] == ["q1", "q2", "q3", "q4"]
    assert found.qrels == {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 2}, "q3": {"d4": 2}}
    assert found.unlabelled == 1
    assert {query: places.tolist() for query, places in found.left_out.items()} == {"q1": [4], "q2": [5]}
    assert found.facets == ("specialty", "modality", "language", "tier", "scenario", "region", "label_status")
    facets = {query.id: query.facets for query in found.queries}
    assert facets["q1"]["label_status"] == "mixed" and facets["q2"]["label_status"] == "structural"
    assert facets["q1"]["specialty"] == "pulmonology"
    assert [query.group for query in found.queries] == ["a1", "a2", "a3", "a4"]
    assert next(found.documents()).text == "Lungs pneumonia of the lower lobe with IL-6 elevation"
    dev = open_collection(found.directory, "dev")
    assert [query.id for query in dev.queries] == ["q5"]
    assert dev.left_out["q5"].tolist() == [4]


def test_facets_are_read_only_where_a_release_has_them(tmp_path: Path) -> None:
    release = toy()
    release.facets = ()
    assert open_collection(release.write(tmp_path)).facets == ("language", "label_status")


def test_the_own_record_is_left_out_unless_it_is_judged(tmp_path: Path) -> None:
    release = toy()
    release.queries[0] |= {"source_id": "d3"}
    release.queries[2] |= {"source_id": "d4"}
    found = open_collection(release.write(tmp_path))
    assert found.left_out["q1"].tolist() == [2, 4]
    assert "q3" not in found.left_out or 3 not in found.left_out["q3"].tolist()


def test_a_changed_or_missing_file_is_named(tmp_path: Path) -> None:
    folder = toy().write(tmp_path)
    path = folder / "corpus" / "test-00000-of-00001.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ReleaseError, match=r"not what release\.json says") as raised:
        open_collection(folder)
    assert raised.value.file == str(path)
    path.unlink()
    with pytest.raises(ReleaseError, match="missing"):
        open_collection(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.qrels.append(("q1", "d9", 1)), "not in the corpus"),
        (lambda r: r.excluded.append(("q1", "d9")), "not in the corpus"),
        (lambda r: r.documents.append(r.documents[0]), "not unique"),
        (lambda r: r.head.update(format_version=99), "format 99"),
    ],
)
def test_a_broken_release_is_refused(tmp_path: Path, change: object, message: str) -> None:
    release = toy()
    change(release)  # type: ignore[operator]
    with pytest.raises(ReleaseError, match=message):
        open_collection(release.write(tmp_path))


def test_no_release_and_no_such_split(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"no release\.json"):
        open_collection(tmp_path)
    with pytest.raises(ReleaseError, match="no queries of split 'train'"):
        open_collection(toy().write(tmp_path), "train")


def pictured() -> Release:
    release = toy()
    for number, row in enumerate(release.queries):
        row["image"] = picture(number)
    for number, row in enumerate(release.documents):
        row["image"] = picture(100 + number)
    return release


def test_images_are_read_in_order(tmp_path: Path) -> None:
    release = pictured()
    release.queries[1]["image"] = None  # a query that never had one
    found = open_collection(release.write(tmp_path))
    assert [row for row, _ in found.query_images()] == ["q1", "q3", "q4"]
    assert dict(found.corpus_images())["d2"] == (picture(101),)
    asked = {one.id: one.images for one in query_requests(found, images=True)}
    assert asked == {"q1": (picture(0),), "q2": (), "q3": (picture(2),), "q4": (picture(3),)}
    offered = list(document_requests(found, images=True))
    assert [one.images for one in offered] == [(picture(100 + number),) for number in range(6)]
    assert all(one.images == () for one in document_requests(found, images=False))


def several() -> Release:
    """Some rows have several images, of both sides and both splits; the first is that of the row."""
    release = pictured()
    release.several = {
        ("document", "d3"): (picture(102), picture(7)),
        ("query", "q2"): (picture(1), picture(8), picture(9)),
        ("query", "q4"): (picture(3), picture(6)),
        ("query", "q5"): (picture(4), picture(5)),
    }
    return release


def test_a_row_of_several_images_is_read_with_all(tmp_path: Path) -> None:
    release = several()
    folder = release.write(tmp_path)
    found = open_collection(folder)
    images = dict(found.query_images())
    assert list(images) == ["q1", "q2", "q3", "q4"] and images["q1"] == (picture(0),)
    assert images["q2"] == release.several["query", "q2"] and images["q4"] == release.several["query", "q4"]
    assert dict(found.corpus_images())["d3"] == release.several["document", "d3"]
    assert dict(open_collection(folder, "dev").query_images()) == {"q5": release.several["query", "q5"]}
    [alone] = restricted(found, {"q4"}, {"d3", "d4"}).query_images()
    assert alone == ("q4", release.several["query", "q4"])


def test_local_features_of_several_images_hang_on_each_and_not_on_their_order() -> None:
    one, other, third = (picture(number) for number in (1, 2, 3))

    def vector(*images: bytes) -> bytes:
        [made] = picture_embeddings(iter([("q", images)]))
        return made.vector

    assert vector(one, other) == vector(other, one)
    assert vector(one, one) == vector(one)
    assert len({vector(one), vector(one, other), vector(one, third)}) == 3


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "image_missing"), (b"\x89PNG\r\n\x1a\n and noise", "image_corrupt")]
)
@pytest.mark.parametrize("row", [("query", "q2"), ("document", "d3")])
def test_one_of_several_images_missing_or_damaged_is_an_error_that_names_the_row(
    tmp_path: Path, row: tuple[str, str], data: bytes, reason: str
) -> None:
    release = several()
    release.several = {**release.several, row: (*release.several[row][:-1], data)}
    with pytest.raises(InputError) as raised:
        open_collection(release.write(tmp_path))
    assert raised.value.reason == reason and raised.value.record == row[1]


@pytest.mark.parametrize(
    ("kind", "row", "data", "reason"),
    [
        ("queries", "q2", b"", "image_missing"),
        ("documents", "d4", b"", "image_missing"),
        ("queries", "q3", b"\x89PNG\r\n\x1a\n and noise", "image_corrupt"),
        ("documents", "d1", b"GIF99a", "image_corrupt"),
    ],
)
def test_a_missing_or_damaged_image_is_an_error_that_names_the_row(
    tmp_path: Path, kind: str, row: str, data: bytes, reason: str
) -> None:
    release = pictured()
    next(item for item in getattr(release, kind) if item["id"] == row)["image"] = data
    with pytest.raises(InputError) as raised:
        open_collection(release.write(tmp_path))
    assert (raised.value.record, raised.value.reason) == (row, reason)


def test_pixels_are_read_where_a_system_needs_them(tmp_path: Path) -> None:
    release = pictured()
    release.documents[2]["image"] = picture(102)[:-60]  # the header is whole, the pixels are not
    found = open_collection(release.write(tmp_path))
    with pytest.raises(MedqrelsError, match="cannot be decoded") as raised:
        check_images(found, decode=True)
    assert raised.value.record == "d3"

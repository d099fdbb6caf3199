"""What models are asked about a collection: embedding requests and query-document pairs to score."""

from __future__ import annotations

from collections.abc import Iterator

from curation.evaluation.collection import Collection
from curation.evaluation.dense import Embedding, EmbedRequest, packed, rounded
from curation.evaluation.pictures import image_vector
from curation.evaluation.ranking import Run
from schemas.record import column, record


@record
class ScoreRequest:
    """A query and a document whose relevance a cross-encoder is asked for."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    query: str = column("query text")
    document: str = column("document text")


def query_requests(collection: Collection, *, images: bool) -> Iterator[EmbedRequest]:
    """One request per query in id order, with its image where wanted; none where nothing can be read."""
    pictures = collection.query_images() if images else iter(())
    following = next(pictures, None)
    for query in collection.queries:
        image = None
        if following is not None and following[0] == query.id:
            image, following = following[1], next(pictures, None)
        if query.text or image is not None:
            yield EmbedRequest(id=query.id, role="query", text=query.text, image=image)


def document_requests(collection: Collection, *, images: bool) -> Iterator[EmbedRequest]:
    """One request per document in id order, with its image where wanted; none where nothing can be read."""
    for document in collection.documents(images=images):
        if document.text or document.image is not None:
            yield EmbedRequest(id=document.id, role="document", text=document.text, image=document.image)


def picture_embeddings(images: Iterator[tuple[str, bytes]]) -> Iterator[Embedding]:
    """The local image features of (id, image bytes), as embeddings."""
    for row, data in images:
        vector = packed(rounded(image_vector(data)[None, :])[0])
        yield Embedding(id=row, vector=vector, tokens=0, tokens_kept=0)


def score_requests(collection: Collection, run: Run) -> Iterator[ScoreRequest]:
    """Every pair of a run, by query and rank. Texts of the documents in the run are held in memory."""
    wanted = {int(place) for ranking in run.values() for place in ranking.documents}
    texts = {place: document.text for place, document in enumerate(collection.documents()) if place in wanted}
    for query in collection.queries:
        if query.id in run:
            for place in run[query.id].documents.tolist():
                yield ScoreRequest(
                    query_id=query.id,
                    corpus_id=collection.corpus_ids[place],
                    query=query.text,
                    document=texts[place],
                )

"""What models are asked about a collection: embedding requests and query-document pairs to score."""

from __future__ import annotations

from collections.abc import Iterator

from curation.evaluation.collection import Collection
from curation.evaluation.dense import Embedding, EmbedRequest, packed, rounded
from curation.evaluation.pictures import image_vector
from curation.evaluation.ranking import Run
from curation.evaluation.reading import Pictures, beside
from schemas.record import column, record


@record
class ScoreRequest:
    """A query and a document whose relevance a cross-encoder is asked for."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    query: str = column("query text")
    document: str = column("document text")


def query_requests(collection: Collection, *, images: bool) -> Iterator[EmbedRequest]:
    """One request per query in id order, with its images where wanted; none where nothing can be read."""
    pictures = collection.query_images() if images else iter(())
    for query, held in beside(((query.id, query) for query in collection.queries), pictures):
        if query.text or held:
            yield EmbedRequest(id=query.id, role="query", text=query.text, images=held)


def document_requests(collection: Collection, *, images: bool) -> Iterator[EmbedRequest]:
    """One request per document in id order, with its images where wanted; none where nothing can be read."""
    pictures = collection.corpus_images() if images else iter(())
    for document, held in beside(((one.id, one) for one in collection.documents()), pictures):
        if document.text or held:
            yield EmbedRequest(id=document.id, role="document", text=document.text, images=held)


def picture_embeddings(pictures: Pictures) -> Iterator[Embedding]:
    """The local image features of each row, as embeddings; of several images the sum, in any order."""
    for row, images in pictures:
        features = sum(map(image_vector, images[1:]), image_vector(images[0]))
        vector = packed(rounded(features[None, :])[0])
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

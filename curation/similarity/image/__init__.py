"""Images under audit: read, looked at, compared.

`features(views, pool)` looks at every published image once; `same_images(one, other, pool)` pairs those that
show the same picture.
"""

from curation.similarity.image.features import ImageFeatures, features
from curation.similarity.image.pairs import ImagePair, same_images

__all__ = ["ImageFeatures", "ImagePair", "features", "same_images"]

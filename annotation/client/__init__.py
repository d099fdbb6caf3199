"""The Label Studio server over HTTP; nothing else in annotation/ touches the network."""

from annotation.client.server import TITLE_CHARACTERS, Client, Project
from annotation.client.transport import Patience, UnconfirmedError, check_address

__all__ = [
    "TITLE_CHARACTERS",
    "Client",
    "Patience",
    "Project",
    "UnconfirmedError",
    "check_address",
]

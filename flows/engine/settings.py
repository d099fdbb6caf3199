"""One frozen settings object, read once at the edge: medqrels.toml, then MEDQRELS_* variables on top.

What shapes output lives in a dataset's spec.toml, not here; these values only say where and how fast.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from flows.engine.hosts import (
    EuropePmcSettings,
    EutilsSettings,
    LitarchSettings,
    MedlineSettings,
    OpenstaxSettings,
    PmcSettings,
    WikimediaSettings,
)
from schemas.address import is_here
from schemas.errors import UsageError
from schemas.invalid import said_of
from schemas.wording import meant

CONFIG_VARIABLE = "MEDQRELS_CONFIG"
LABEL_STUDIO_VARIABLE = "MEDQRELS_LABEL_STUDIO_VENV"
DEFAULT_CONFIG = "medqrels.toml"
_ALL = "see docs/settings.md for every setting"
LEAST_MEMORY_KIB = 128 * 1024


class _Toml(TomlConfigSettingsSource):
    """The file, which some editors begin with a mark."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        read: dict[str, Any] = tomllib.loads(file_path.read_text("utf-8-sig"))
        return read


class HttpSettings(BaseModel):
    """Patience and caps of the polite client."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attempts: Annotated[int, Field(ge=1, le=20)] = Field(6, description="tries per request")
    timeout_seconds: Annotated[float, Field(gt=0)] = Field(30.0, description="wait for the next bytes")
    deadline_seconds: Annotated[float, Field(gt=0)] = Field(300.0, description="longest one request may take")
    max_xml_mib: Annotated[int, Field(ge=1)] = Field(64, description="largest XML accepted, MiB")
    max_media_mib: Annotated[int, Field(ge=1)] = Field(64, description="largest media file accepted, MiB")


def kib_of(size: str) -> int:
    """Kibibytes of a size such as `4GB` or `1.5 GiB`, in which a letter is a power of 1,024."""
    number, unit = re.fullmatch(r"([0-9.]+) ?([KMGT])i?B", size).groups()  # type: ignore[union-attr]  # the pattern holds
    return int(float(number) * 1024.0 ** "KMGT".index(unit))


class Settings(BaseSettings):
    """Settings of one medqrels process."""

    model_config = SettingsConfigDict(
        env_prefix="MEDQRELS_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    workspace: Path = Field(Path("workspace"), description="folder of raw/, work/ and releases/")
    contact: Annotated[str, Field(pattern=r"^[!-~]*$")] = Field(
        "", description="mail address sent to servers in the User-Agent: no spaces, ASCII"
    )
    workers: Annotated[int, Field(ge=0, le=256)] = Field(
        0, description="worker processes; 0 means one per core"
    )
    shard_size: Annotated[int, Field(ge=1, le=500)] = Field(
        500, description="articles per shard, at most 500"
    )
    dask: Annotated[str, Field(pattern=r"^([a-z]+://\S+)?$")] = Field(
        "", description="address of a Dask scheduler whose workers make the shards; '' for this machine alone"
    )
    store: str = Field(
        "", description="what those workers share: s3://BUCKET/PREFIX, or a folder that all machines mount"
    )
    memory_limit: Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)? ?([KMGT]i?)B$")] = Field(
        "4GB", description="DuckDB memory limit, at least 128MB"
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "WARNING", description="what is logged on stderr"
    )
    pmc: PmcSettings = PmcSettings.model_construct()
    eutils: EutilsSettings = EutilsSettings.model_construct()
    europepmc: EuropePmcSettings = EuropePmcSettings.model_construct()
    litarch: LitarchSettings = LitarchSettings.model_construct()
    openstax: OpenstaxSettings = OpenstaxSettings.model_construct()
    medline: MedlineSettings = MedlineSettings.model_construct()
    wikimedia: WikimediaSettings = WikimediaSettings.model_construct()
    http: HttpSettings = HttpSettings.model_construct()

    @field_validator("memory_limit")
    @classmethod
    def _is_enough(cls, text: str) -> str:
        """With less, DuckDB cannot open a table, and an audit would miss what it plants."""
        if kib_of(text) < LEAST_MEMORY_KIB:
            raise ValueError(f"at least {LEAST_MEMORY_KIB // 1024}MB are needed, not {text}")
        return text

    @property
    def worker_count(self) -> int:
        """Worker processes to use."""
        return self.workers or os.cpu_count() or 1

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line over environment over TOML file over defaults."""
        toml = _Toml(settings_cls, toml_file=config_path())
        return (init_settings, env_settings, toml)


def config_path() -> Path:
    """The TOML file settings are read from: $MEDQRELS_CONFIG or ./medqrels.toml; it may be absent."""
    return Path(os.environ.get(CONFIG_VARIABLE, DEFAULT_CONFIG))


def load_settings(**overrides: Any) -> Settings:
    """Read the settings; keyword arguments that are not None win over file and environment.

    Raises:
        UsageError: a value is invalid, a key unknown, or $MEDQRELS_CONFIG names a missing file.
    """
    path = config_path()
    if CONFIG_VARIABLE in os.environ and not path.is_file():
        raise UsageError(f"{CONFIG_VARIABLE} names a file that does not exist", file=str(path))
    _refuse_unknown_variables()
    try:
        return Settings(**{key: value for key, value in overrides.items() if value is not None})
    except ValidationError as error:
        where, what = said_of(error, Settings)
        variable = _variable(where)
        raise UsageError(
            f"setting {'.'.join(where)!r}: {what}",
            file="" if variable else str(path),
            hint=f"correct {variable}; {_ALL}" if variable else _ALL,
        ) from error
    except ValueError as error:
        raise UsageError(
            f"settings cannot be read: {error}",
            file=str(path),
            hint='it has to be TOML in UTF-8: key = "text"',
        ) from error


def require_contact(settings: Settings, endpoints: Iterable[str]) -> None:
    """Refuse to visit a real server without saying who we are.

    Raises:
        UsageError: no contact address, and one of the endpoints is not on this machine.
    """
    if not settings.contact and not all(map(is_here, endpoints)):
        raise UsageError(
            "a crawl of a real server needs a contact address",
            hint="set contact in medqrels.toml, or MEDQRELS_CONTACT=you@example.org",
        )


def _variable(where: tuple[str, ...]) -> str:
    """The variable that a setting was read from, '' where it stands in the file."""
    name = f"MEDQRELS_{'__'.join(where)}".upper()
    return next((variable for variable in os.environ if variable.upper() == name), "")


def _refuse_unknown_variables() -> None:
    """pydantic-settings ignores misspelt variables; a setting that silently does nothing misleads."""
    known = {f"MEDQRELS_{name}".upper() for name in Settings.model_fields}
    known |= {CONFIG_VARIABLE, LABEL_STUDIO_VARIABLE}
    for variable in sorted(os.environ):
        name = variable.upper().partition("__")[0]
        if name.startswith("MEDQRELS_") and name not in known:
            raise UsageError(f"unknown setting {variable}{meant(name, known)}", hint=_ALL)

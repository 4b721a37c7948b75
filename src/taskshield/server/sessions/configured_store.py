"""Opens the store that the settings name."""

from pathlib import Path

from taskshield.core.errors import ConfigError
from taskshield.core.store import Store
from taskshield.own_surroundings import state_folder
from taskshield.settings import ServerSettings
from taskshield.stores.open_store import open_store


async def open_configured(settings: ServerSettings) -> Store:
    """Open the store that the settings name: a file in the user's state folder if they name none.

    Raises:
        ConfigError: The URL is wrong, or the folder cannot be created.
        StoreError: The database cannot be used.
    """
    return await open_store(configured_url(settings))


def configured_url(settings: ServerSettings) -> str:
    """The URL of the store that the settings name. The folder of the default file is made.

    Raises:
        ConfigError: The user has no home folder, or the folder in it cannot be created.
    """
    if settings.store is not None:
        return settings.store.get_secret_value()
    file = default_file()
    folder = file.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"server.store: cannot create the folder {folder}: {error.strerror}"
        ) from None
    return f"sqlite:///{file}"


def default_file() -> Path:
    """The file in the folder for state in the user's home folder.

    Raises:
        ConfigError: The user has no home folder, as in a container with a user of its own.
    """
    try:
        return state_folder() / "taskshield.db"
    except RuntimeError:
        raise ConfigError(
            "server.store: this user has no home folder for the default file. Set server.store,"
            " XDG_STATE_HOME or HOME."
        ) from None

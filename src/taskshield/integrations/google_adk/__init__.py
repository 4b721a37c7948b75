"""The shield as a plugin of a Google ADK app.

    from google.adk.apps import App
    from taskshield import AsyncShield
    from taskshield.integrations.google_adk import TaskShieldPlugin

    app = App(name="mail", root_agent=agent, plugins=[TaskShieldPlugin(AsyncShield())])

It guards all agents of the app.
"""

from taskshield.core.errors import MissingExtraError

try:
    import google.adk as _google_adk  # noqa: F401
except ImportError as error:
    raise MissingExtraError("google-adk", "google-adk") from error

from taskshield.integrations.google_adk.plugin import STATE, TaskShieldPlugin

__all__ = ["STATE", "TaskShieldPlugin"]

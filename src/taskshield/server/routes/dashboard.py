"""The dashboard: its files, login and logout."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from taskshield._version import __version__
from taskshield.server.access.api_keys import SCOPES
from taskshield.server.access.auth import LOCAL_PROGRAM
from taskshield.server.access.logins import check_origin, clear_cookie, set_cookie
from taskshield.server.dashboard.files import HEADERS, INDEX, read_files, served
from taskshield.server.http import errors
from taskshield.server.http.errors import Problem, RequestError
from taskshield.server.http.json_body import json_body
from taskshield.server.http.json_response import AsciiResponse
from taskshield.server.http.surfaces import Surface
from taskshield.server.services import services

_FILES = read_files()


async def page(request: Request) -> Response:
    """The page itself."""
    return served(_FILES[INDEX], request)


async def file(request: Request) -> Response:
    """A file of the page."""
    found = _FILES.get(request.path_params["file"])
    if found is None:
        raise RequestError(404, "not_found", "There is no such file.")
    return served(found, request)


async def me(request: Request) -> Response:
    """Whether the browser is logged in, and what it may do."""
    server = services(request)
    about_server = {"judges": list(server.playground.judges), "version": __version__}
    try:
        who = await server.auth.identify(request)
    except RequestError:
        who = LOCAL_PROGRAM
    if who is not LOCAL_PROGRAM:
        scopes = sorted(SCOPES if "admin" in who.scopes else who.scopes)
        return _json({"login": "done", "scopes": scopes, "tenant": who.tenant, **about_server})
    anonymous = {"login": "needed", "scopes": [], "tenant": "", **about_server, "judges": []}
    return _json({**anonymous, "link": await server.auth.link_works()})


async def login(request: Request) -> Response:
    """Log in with a key, or with the token of the link that the server printed."""
    auth = services(request).auth
    auth.count_login(request)
    check_origin(request)
    match await json_body(request):
        case {"token": str(token)}:
            made = await auth.log_in_with_link(request, token)
        case {"key": str(key)}:
            made = await auth.log_in(request, key.strip())
        case _:
            raise RequestError(400, "invalid_request", "key: An API key is needed as text.")
    response = _json({"csrf": made.token})
    set_cookie(response, request, made.cookie)
    return response


async def logout(request: Request) -> Response:
    """Log out."""
    check_origin(request)
    await services(request).auth.log_out(request)
    response = Response(status_code=204, headers=HEADERS)
    clear_cookie(response)
    return response


def _json(content: object) -> Response:
    return AsciiResponse(content, headers={**HEADERS, "cache-control": "no-store"})


def _render(problem: Problem) -> Response:
    response = errors.render(problem)
    response.headers.update(HEADERS)
    return response


SURFACE = Surface(
    name="page",
    prefixes=("/page/",),
    paths=("/",),
    router=APIRouter(
        routes=[
            Route("/", page),
            Route("/page/me", me),
            Route("/page/login", login, methods=["POST"]),
            Route("/page/logout", logout, methods=["POST"]),
            Route("/page/{file:path}", file),
        ]
    ),
    render=_render,
    logins=True,
)

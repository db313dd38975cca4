"""The studio's application: routes, errors and the guard in front of them."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

import sidelight
from sidelight.app.studio.studio import Studio
from sidelight.app.studio.web import asking, files, making, projects, seeing, sorting, tags
from sidelight.app.studio.web.pages import page, told
from sidelight.app.studio.web.security import Access, Guard, Guesses
from sidelight.errors import SidelightError

_log = logging.getLogger("sidelight.studio")
_ROUTES = tuple(part.router for part in (projects, making, asking, sorting, tags, seeing, files))
_AT_ONCE = 200  # requests that may wait for the model at the same time
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"description": words}
    for code, words in {
        401: "the owner's token is missing",
        403: "not from a page of the studio, nor with the header X-Sidelight",
        404: "no such project, person, cluster or row",
        409: "the name is taken",
        413: "too large",
        429: "more requests of one link than a person can send",
        421: "a name that is not this machine's",
        422: "what was sent cannot be used; nothing was changed",
        500: "a mistake of ours; it has a number to report, which is in the log too",
        503: "the database does not answer, or its disk is full; nothing was changed",
    }.items()
}


def make_app(
    studio: Studio,
    access: Access | None = None,
    *,
    begin: str = "/",
    routes: Sequence[APIRouter] = _ROUTES,
    open_to_all: tuple[str, ...] = (),
) -> Any:
    """Return the application that serves a studio.

    ``begin`` is the page to begin with; further paths that are ``open_to_all`` ask for no owner.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _AT_ONCE
        yield
        studio.close()

    app = FastAPI(
        title="Sidelight Studio",
        version=sidelight.__version__,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        responses=_ERRORS,
        lifespan=lifespan,
        redirect_slashes=False,  # it would send people to whatever name the request calls this machine
    )
    access = Access(access.token if access else "", studio.role_of)
    app.state.studio, app.state.access, app.state.guesses = studio, access, Guesses()
    app.state.begin = begin
    for router in routes:
        app.include_router(router)
    app.add_exception_handler(SidelightError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)
    return Guard(app, app.state.access, open_to_all)


def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, SidelightError)  # it is registered for these
    return told(request, error)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # it is registered for these
    problems = [f"{'.'.join(str(part) for part in item['loc'][1:])}: {item['msg']}" for item in error.errors()]
    words = f"This cannot be used: {'; '.join(problems)}."
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": words}, status_code=422)
    return page("error.html", code=422, title="This did not work", words=words)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # it is registered for these
    path = request.url.path
    if error.status_code == 404 and request.method == "GET" and path.endswith("/") and not path.startswith("//"):
        return RedirectResponse(path.rstrip("/"), status_code=307)
    words = "There is no such page." if error.status_code == 404 else str(error.detail)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": words}, status_code=error.status_code, headers=error.headers)
    return page("error.html", code=error.status_code, title="This did not work", words=words)


def _unexpected(request: Request, error: Exception) -> Response:
    """Turn a mistake of ours into a page with a number; the log has the same number and where it happened."""
    number = secrets.token_hex(4)
    route = getattr(request.scope.get("route"), "path", "?")  # as it was declared: addresses contain tokens
    _log.error("Error %s: %s %s: %s", number, request.method, route, type(error).__name__, exc_info=error)
    words = (
        "This is a mistake of the studio, not yours. Every answer that was acknowledged is kept. Please report it "
        f"with the number {number}, which is in the studio's log too."
    )
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": words, "number": number}, status_code=500)
    return page("error.html", code=500, title="Something went wrong here", words=words)

"""The API of a ladder as OpenAPI describes it."""

from typing import Any

from arena.ladder.ledger import STATUSES
from arena.version import __version__

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_MAYBE: Schema = {"type": ["string", "null"]}
_ERROR: Schema = {
    "type": "object",
    "required": ["error", "hint"],
    "properties": {"error": _TEXT, "hint": _TEXT},
}
_FINDING: Schema = {
    "type": "object",
    "properties": {
        "game": _TEXT,
        "check": _TEXT,
        "promise": _TEXT,
        "kept": {"type": "boolean"},
        "reached": {"type": "boolean"},
        "found": _MAYBE,
    },
}
_SUBMISSION: Schema = {
    "type": "object",
    "required": ["id", "status"],
    "properties": {
        "id": _TEXT,
        "agent": _MAYBE,
        "name": _MAYBE,
        "version": {"type": ["integer", "null"]},
        "kind": _TEXT,
        "file": _TEXT,
        "received": {"type": "string", "format": "date-time"},
        "decided": _MAYBE,
        "status": {"enum": list(STATUSES)},
        "reason": _MAYBE,
        "findings": {"type": "array", "items": _FINDING},
        "faults": {"type": "integer"},
    },
}
_LOG: Schema = {
    "type": "object",
    "required": ["id", "lost", "log"],
    "properties": {
        "id": _TEXT,
        "lost": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "match": _TEXT,
                    "labels": {"type": "array", "items": _TEXT},
                    "termination": _TEXT,
                    "message": _MAYBE,
                    "traceback": _MAYBE,
                },
            },
        },
        "log": _TEXT,
    },
}
_ROWS: Schema = {
    "type": "object",
    "required": ["rows", "state"],
    "properties": {"rows": {"type": "array", "items": {"type": "object"}}, "state": _TEXT},
}
_FORM: Schema = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "contentMediaType": "application/octet-stream"}, "name": _TEXT},
}


def described() -> Schema:
    """Return the description of every endpoint, in OpenAPI 3.1."""
    own: list[dict[str, list[str]]] = [{"bearer": []}]
    paths = {
        "/api/standings": {"get": _operation("The standings, the best first.", _ROWS)},
        "/api/ladder": {"get": _operation("What is played here, and what may be handed in.", {"type": "object"})},
        "/api/agents/{name}": {"get": _operation("An agent and the course of its rating.", {"type": "object"}, "name", 404)},
        "/api/submissions": {
            "get": {**_operation("Your submissions, the latest first.", _ROWS, None, 401, 403), "security": own},
            "post": {
                **_operation("Hand in an agent.", _SUBMISSION, None, 401, 403, 413, 422, 429, 503, code=202),
                "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}},
                "security": own,
            },
        },
        "/api/submissions/{id}": {"get": {**_operation("What became of it.", _SUBMISSION, "id", 401, 403, 404), "security": own}},
        "/api/submissions/{id}/log": {
            "get": {**_operation("What it printed, and its lost matches.", _LOG, "id", 401, 403, 404), "security": own}
        },
        "/api/submissions/{id}/withdraw": {
            "post": {**_operation("Take it out of play.", _SUBMISSION, "id", 401, 403, 404), "security": own}
        },
        "/api/authors": {
            "post": {
                **_operation("Register, where anybody may.", {"type": "object"}, None, 403, 409, 422, 429, code=201),
                "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}},
            }
        },
        "/health": {"get": _operation("Whether the ladder works.", {"type": "object"}, None, 503)},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "A ladder of arena", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _operation(told: str, schema: Schema, parameter: str | None = None, *errors: int, code: int = 200) -> Schema:
    answers = {str(code): {"description": told, "content": {"application/json": {"schema": schema}}}}
    refusals = {str(one): {"description": "Refused.", "content": {"application/json": {"schema": _ERROR}}} for one in errors}
    given = [] if parameter is None else [{"name": parameter, "in": "path", "required": True, "schema": _TEXT}]
    return {"summary": told, "responses": {**answers, **refusals}, **({"parameters": given} if given else {})}

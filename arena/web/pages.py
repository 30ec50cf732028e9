"""The pages as they are sent: one frame for all, filled by the module that each of them names; and the files they need."""

from html import escape
from pathlib import Path

from arena.views import static_files

OWN = Path(__file__).with_name("static")
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGES = (("Tournaments", "/"), ("Play", "/play"), ("Puzzles", "/puzzles"), ("New", "/new"))
"""What the navigation offers."""

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} | arena</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/style.css">
{script}</head>
<body{data}>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><svg viewBox="0 0 24 24" aria-hidden="true"><path class="mark-x" d="M3 4.5 10 12 3 19.5"/>\
<circle class="mark-o" cx="17" cy="12" r="4.5"/></svg>arena</a>
<nav class="nav" aria-label="pages">{nav}</nav>
</header>
<main id="main" tabindex="-1">{content}</main>
</body>
</html>
"""


def page(title: str, module: str, path: str, **data: str) -> str:
    """A page: its title, the module that fills it, which entry of the navigation it is, and what it is told."""
    told = "".join([f' data-{name}="{escape(value, quote=True)}"' for name, value in data.items()])
    script = f'<script type="module" src="/static/{module}"></script>\n'
    return _framed(title, path, "<noscript>These pages need JavaScript.</noscript>", script, told)


def fault_page(title: str, message: str) -> str:
    """A page that says why there is none at an address, and leads back."""
    content = f'<div class="head"><h1>{escape(title)}</h1></div>\n<p class="fault">{escape(message)}</p>\n'
    return _framed(title, "", content + '<p class="gap"><a class="button" href="/">To the first page</a></p>')


def _framed(title: str, path: str, content: str, script: str = "", data: str = "") -> str:
    links = [f'<a href="{target}"{" aria-current=page" if target == path else ""}>{escape(name)}</a>' for name, target in PAGES]
    return _FRAME.format(title=escape(title), nav="".join(links), content=content, script=script, data=data)


def files() -> dict[str, tuple[bytes, str]]:
    """Every file that a page can ask for, by its name: what is in it, and of what kind. Nothing else is ever sent."""
    own = {file.name: file for file in OWN.iterdir() if file.suffix in KINDS}
    return {name: (file.read_bytes(), KINDS[file.suffix]) for name, file in {**static_files(), **own}.items()}

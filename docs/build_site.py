"""Hooks of the documentation site: pages from the top level, links that leave `docs`.

The pages link to files of the repository, as GitHub shows them. On the site a link to another page
stays on the site and shows its title in place of a file name; a link to any other file leads to
the repository.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Pages that GitHub looks for at the top level.
TOP_LEVEL = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FENCE = re.compile(r"(^```.*?^```$)", flags=re.M | re.S)
LINK = re.compile(r"(\[[\w-]+\.md)?\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the top level."""
    for source, name in TOP_LEVEL.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links to files of the repository."""
    name = page.file.src_uri
    sources = {page: source for source, page in TOP_LEVEL.items()}
    folder = posixpath.dirname(sources.get(name, f"docs/{name}"))
    if name == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    repository = config.extra["social"][0]["link"]

    def rewritten(link: re.Match[str]) -> str:
        text, anchor = link[1] or "", link[3] or ""
        target = link[2].removeprefix(f"{repository}/blob/main/")
        if "://" in target:
            return link[0]
        path = posixpath.normpath(target if target != link[2] else f"{folder}/{target}")
        there = TOP_LEVEL.get(path, path.removeprefix("docs/"))
        file = files.get_file_from_path(there)
        if file is None:
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"{text}]({repository}/{kind}/main/{path}{anchor})"
        if text and file.page is not None:
            text = f"[{file.page.title}"
        return f"{text}]({posixpath.relpath(there, posixpath.dirname(name) or '.')}{anchor})"

    parts = FENCE.split(markdown)
    return "".join(part if FENCE.match(part) else LINK.sub(rewritten, part) for part in parts)

"""What MkDocs does beside mkdocs.yml when it builds the site: CHANGELOG.md is a
page, whose links start at the root of the repository, and links to files of the
sources, which the site does not have, become plain text. scripts/audit_links.py
checks those.
"""
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files, config):
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    content = LINK.sub(lambda found: found[0].replace("](docs/", "]("), text)
    files.append(File.generated(config, "changelog.md", content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.dirname(page.file.src_uri)

    def link(found):
        if re.match(r"[a-z]+:", found[2]):
            return found[0]
        path = posixpath.normpath(posixpath.join("docs", folder, found[2]))
        # A folder, and what lies above docs/, is no page.
        outside = not path.startswith("docs/") and (ROOT / path).exists()
        return found[1] if outside or (ROOT / path).is_dir() else found[0]

    return LINK.sub(link, markdown)

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation as a site: make_site.py OUT [--check]

OUT/site has the pages of docs/ and of the examples, a page for each public name (public_names.py, reference_pages.py),
and the headers with their source as Doxygen shows them; OUT/pages is what MkDocs reads. MkDocs with Material comes from
this Python, else by pip into OUT/python. --check looks at all links of the site that is there. Ends with 77, and says
SKIPPED, where MkDocs or Doxygen cannot be had.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

import check_links
import public_names
import reference_pages

ROOT = public_names.ROOT
SETTINGS = ROOT / "docs/site"
SKIPPED = 77
LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".cmake": "cmake", ".json": "json",
             ".yml": "yaml", ".yaml": "yaml"}
# In a sentence a lambda, of which Python-Markdown would make a link.
LAMBDA = re.compile(r"\[([^][]*)\]\((?=[^)\s]+ [^\s\")])")
LINK = re.compile(r"\]\(([^)\s]+)\)")


class Pages:
    """Pages of the repository, staged in a folder; where they lead to files that are no pages, those become pages with
    their text."""

    def __init__(self, folder, names):
        self.folder, self.names = folder, names
        self.waiting, self.staged = [], {}

    def place(self, path):
        """Where a file of the repository is staged."""
        if path not in self.staged:
            place = str(path.relative_to(ROOT)).replace(".github", "github").replace(".ci", "ci")
            self.staged[path] = pathlib.Path(place if place.endswith(".md") else f"files/{place}.md")
            self.waiting.append(path)
        return self.staged[path]

    def target(self, page, link):
        """A link of a page, as it is among staged pages."""
        file, mark, anchor = link.partition("#")
        if not file or re.match(r"\w+:", link):
            return link
        path = (page.parent / file).resolve()
        if path.is_dir():
            path = path / "README.md" if (path / "README.md").is_file() else path
        if not path.exists():
            raise SystemExit(f"{page.relative_to(ROOT)}: there is no {link} that a link could lead to")
        return os.path.relpath(self.place(path), self.place(page).parent) + mark + anchor

    def write(self, path):
        to = self.folder / self.place(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            lines = [f"- [`{p.name}`]({self.target(path / '.', str(p))})" for p in sorted(path.iterdir())
                     if not p.name.startswith((".", "__"))]
            to.write_text(f"# {path.relative_to(ROOT)}\n\n" + "\n".join(lines) + "\n")
        elif path.suffix == ".md":
            to.write_text(self.converted(path))
        else:
            fence = "`````"
            language = LANGUAGES.get(path.suffix, "text")
            to.write_text(f"# {path.relative_to(ROOT)}\n\n{fence}{language}\n{path.read_text()}{fence}\n")

    def converted(self, page):
        out, fence = [], ""
        for line in page.read_text().split("\n"):
            found = re.match(r"\s*(`{3,}|~{3,})", line)
            if found and not fence:
                fence = found[1]
            elif found and line.strip().startswith(fence):
                fence = ""
            elif not fence and not line.startswith("    "):
                line = LINK.sub(lambda m: f"]({self.target(page, m[1])})", line)
                line = "".join(part if part.startswith("`") else LAMBDA.sub(r"\\[\1\\](", part)
                               for part in re.split(r"(`+[^`]*`+)", line))
                if not line.startswith("#"):
                    line = self.with_names(page, line)
            out.append(line)
        return "\n".join(out)

    def with_names(self, page, line):
        """`os::name` leads to the page of the name, unless it is part of a link."""
        up = os.path.relpath("reference", self.place(page).parent)

        def link(found):
            name = found[1]
            inside = line.count("[", 0, found.start()) > line.count("]", 0, found.start())
            if inside or name not in self.names:
                return found[0]
            return f"[{found[0]}]({up}/{reference_pages.file_of(name)})"

        return re.sub(r"(?<!`)`os::(\w+)`(?!`)", link, line)

    def write_all(self):
        while self.waiting:
            self.write(self.waiting.pop())


def find_mkdocs(out):
    """A Python that has MkDocs with Material, or None."""
    def has(python):
        return subprocess.run([python, "-c", "import mkdocs, material, pymdownx"], capture_output=True).returncode == 0

    own = out / "python/bin/python3"
    for python in (sys.executable, own):
        if os.path.exists(python) and has(python):
            return python
    venv.create(out / "python", with_pip=True, clear=True)
    subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
                    SETTINGS / "requirements.txt"])
    return own if has(own) else None


def run_doxygen(out):
    """Writes OUT/doxygen/headers, and hands over what page shows a header's source."""
    folder = out / "doxygen"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = (SETTINGS / "Doxyfile").read_text()
    settings += f"\nOUTPUT_DIRECTORY = \"{folder}\"\nGENERATE_TAGFILE = \"{folder}/headers.tag\"\n"
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)
    tags = (folder / "headers.tag").read_text()
    found = re.findall(r'<compound kind="file">\s*<name>([^<]*)</name>\s*<path>([^<]*)</path>\s*'
                       r'<filename>([^<]*)</filename>', tags)
    return {f"{path}{name}".rpartition("/include/")[2]: re.sub(r"(\.html)?$", "_source.html", file, count=1)
            for name, path, file in found}


def navigation(pages):
    """The parts of docs/README.md are the tabs' contents, in its order."""
    parts, part = [], None
    for line in (ROOT / "docs/README.md").read_text().split("\n"):
        if found := re.match(r"\*\*(.+)\*\*$", line):
            part = (found[1], [])
            parts.append(part)
        elif part and line.startswith("| ["):
            part[1].extend(found for found in re.findall(r"\[([^]]+)\]\(([^)#]+)\)", line.split(" | ")[0]))
    lines = ["nav:", "  - Ostraka: README.md", "  - Documentation:", "    - docs/README.md"]
    for title, entries in parts:
        lines.append(f"    - {title}:")
        for _, target in entries:
            path = (ROOT / "docs" / target).resolve()
            path = path / "README.md" if path.is_dir() else path
            lines.append(f"      - {pages.place(path)}")
    for title, folder in (("Design", "docs/design"), ("Benchmarks", "docs/benchmarks")):
        lines.append(f"  - {title}:")
        lines += [f"    - {pages.place(path)}"
                  for path in sorted((ROOT / folder).glob("*.md"), key=lambda p: (p.name != "README.md", p.name))]
    lines.append("  - Examples:")
    lines += [f"    - {pages.place(path)}" for path in sorted((ROOT / "examples").rglob("README.md"))]
    lines.append("  - Reference:")
    lines += [f"    {line}" for line in reference_pages.navigation(pages.names)]
    return "\n".join(lines) + "\n"


def make(out):
    if not shutil.which("doxygen"):
        print("SKIPPED: there is no doxygen here, so no site is made; apt-get install doxygen")
        return SKIPPED
    python = find_mkdocs(out)
    if python is None:
        print("SKIPPED: MkDocs with Material cannot be had here (pip install mkdocs-material), so no site is made")
        return SKIPPED
    names = public_names.public_names()
    staging = out / "pages"
    shutil.rmtree(staging, ignore_errors=True)
    sources = run_doxygen(out)
    pages = Pages(staging, names)
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md"),
                 *ROOT.glob("examples/**/README.md")]:
        pages.place(path)
    nav = navigation(pages)
    pages.write_all()
    reference_pages.write(staging / "reference", names, sources)
    shutil.copytree(out / "doxygen/headers", staging / "headers")
    shutil.copy(SETTINGS / "extra.css", staging)
    (out / "mkdocs.yml").write_text((SETTINGS / "mkdocs.yml").read_text()
                                    + f"docs_dir: {staging}\nsite_dir: {out / 'site'}\n" + nav)
    subprocess.run([python, "-m", "mkdocs", "build", "--quiet", "--clean", "--strict", "-f", out / "mkdocs.yml"],
                   check=True,
                   env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    print(f"{len(names)} names, {len(pages.staged)} pages: {out / 'site/index.html'}")
    return 0


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    out = pathlib.Path(sys.argv[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    status = make(out)
    return status if status or "--check" not in sys.argv else check_links.check(out / "site")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every link of a site leads to a file of it, and to a place in that file: check_links.py SITE

Links to elsewhere are counted, and nothing is fetched. Doxygen's pages, in headers/, are linked to; the links in them
are its own business."""

import collections
import functools
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.places, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


@functools.cache
def read(path):
    return Page(path.read_text(errors="replace"))


def check(site):
    site = site.resolve()
    counts, wrong = collections.Counter(), {}
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site)
        if name.parts[0] == "headers" or name.name == "404.html":
            continue
        counts["pages"] += 1
        for link in read(path).links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                counts["elsewhere"] += 1
                continue
            counts["here"] += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong[f"{name}: there is no {link}"] = True
            elif (parts.fragment and target.suffix == ".html"
                  and urllib.parse.unquote(parts.fragment) not in read(target).places):
                wrong[f"{name}: there is no such place in the page: {link}"] = True
    print("\n".join([*wrong, f"{counts['pages']} pages, {counts['here']} links, {len(wrong)} of them wrong; "
                             f"{counts['elsewhere']} lead elsewhere"]))
    return 1 if wrong or not counts["here"] else 0


if __name__ == "__main__":
    sys.exit(check(pathlib.Path(sys.argv[1])))

#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   bash cmake/packaging/make_debian.sh OUT [dpkg-buildpackage arguments...]
#
# Builds the Debian source package and libostraka-dev in the folder OUT, from a copy of this checkout in which
# cmake/packaging/debian is where dpkg-buildpackage looks for it. The version is that of include/ostraka/version.hpp;
# its date is SOURCE_DATE_EPOCH, else today. To build a package for others, set DEBEMAIL and DEBFULLNAME, which name the
# maintainer.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
usage="usage: bash cmake/packaging/make_debian.sh OUT [dpkg-buildpackage arguments...]"
[[ $# -ge 1 ]] || { echo "$usage" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift

version=$(sed -nE 's/^#define OSTRAKA_VERSION_[A-Z]+ ([0-9]+)$/\1/p' "$root/include/ostraka/version.hpp" | paste -sd.)
folder=$out/ostraka-$version
rm -rf "$folder"
mkdir -p "$folder"
# The files under version control, as they are in the checkout; a released archive has only these.
if git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  (cd "$root" && git ls-files -z --cached --others --exclude-standard |
    while IFS= read -rd '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
    tar -c --null -T - | tar -x -C "$folder")
else
  tar -C "$root" -c --exclude='./build*' . | tar -x -C "$folder"
fi
tar -C "$out" --sort=name -czf "$out/ostraka_$version.orig.tar.gz" "ostraka-$version"
cp -r "$folder/cmake/packaging/debian" "$folder/debian"
maintainer="${DEBFULLNAME:-The Ostraka authors} <${DEBEMAIL:-ostraka@invalid}>"
sed -i "s/^Maintainer: .*/Maintainer: $maintainer/" "$folder/debian/control"
cat >"$folder/debian/changelog" <<CHANGELOG
ostraka ($version-1) UNRELEASED; urgency=medium

  * Version $version: CHANGELOG.md has what is new.

 -- $maintainer  $(date -R ${SOURCE_DATE_EPOCH:+--date=@$SOURCE_DATE_EPOCH})
CHANGELOG
cd "$folder"
dpkg-buildpackage -us -uc "$@"

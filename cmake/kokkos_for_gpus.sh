#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds Kokkos for GPUs, with libraries to link, which no package of Debian has. No GPU is needed. It takes four
# minutes of one core, and does nothing if PREFIX is complete.
#
#   bash cmake/kokkos_for_gpus.sh cuda sm_80|sm_90 PREFIX     CUDA and Serial, by nvcc and PREFIX/bin/nvcc_wrapper
#   bash cmake/kokkos_for_gpus.sh hip gfx90a PREFIX           HIP and Serial, by hipcc
#
# The source, 4.6 or later, is what OSTRAKA_KOKKOS_SOURCE names, a folder or an archive of Kokkos; else
# kokkos-source.tar.xz in the cache of CI (OSTRAKA_CACHE); else the source package of Debian unstable, from the mirror
# that this machine's apt uses, whose settings are not touched. The exit status is 77 if no source is available. CI's
# legs cuda and hip and bench/gpu/pack use this script.

set -euo pipefail
fail() { echo "kokkos_for_gpus: $*" >&2; exit 1; }
no_source() { echo "kokkos_for_gpus: set OSTRAKA_KOKKOS_SOURCE: $*" >&2; exit 77; }
usage() { sed -nE 's/^#   (bash .*)/\1/p' "$0" >&2; exit 2; }

# debian_archive FOLDER: downloads the source package's archive
debian_archive() {
  local folder=$1 mirror key=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(grep -rhoE 'https?://[^ ]*/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
    grep -v -e security -e snapshot | head -n 1 | tr -d ' ' || true)
  [[ -n $mirror && -e $key ]] || no_source "apt's sources name no mirror of Debian, or its key is missing"
  mkdir -p "$folder"/{lists/partial,cache/archives/partial,preferences,download}
  echo "deb-src [signed-by=$key] $mirror unstable main" >"$folder/sources.list"
  local options=(-qq -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::Etc::preferencesparts="$folder/preferences" -o Dir::State::lists="$folder/lists"
    -o Dir::Cache="$folder/cache" -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false
    -o APT::Sandbox::User="$(id -un)")
  (cd "$folder/download" && apt-get "${options[@]}" update && apt-get "${options[@]}" --download-only source kokkos) \
    >"$folder/log" 2>&1 ||
    { tail -n 3 "$folder/log" >&2; no_source "the mirror does not have the source package kokkos"; }
  echo "$folder"/download/kokkos_*.orig.tar.*
}

# source_in FOLDER: puts the source there, with changes for CUDA 13, which 4.6 predates
source_in() {
  local folder=$1 kept=${OSTRAKA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ostraka}/kokkos-source.tar.xz \
    from=${OSTRAKA_KOKKOS_SOURCE:-}
  local cuda=$folder/core/src/Cuda/Kokkos_Cuda_Instance.hpp
  [[ -n $from || ! -e $kept ]] || from=$kept
  [[ -n $from ]] || from=$(debian_archive "$folder.apt")
  mkdir -p "$folder"
  if [[ -d $from ]]; then cp -R "$from/." "$folder"; else tar -xf "$from" -C "$folder" --strip-components=1; fi
  [[ -e $folder/bin/nvcc_wrapper ]] || fail "$from is no source of Kokkos"
  # CMake's first checks of the compiler name no architecture, and nvcc 13 supports the oldest ones no longer.
  sed -i 's/^default_arch=.*/default_arch="sm_90"/' "$folder/bin/nvcc_wrapper"
  # 4.6 has the arguments of CUDA 12: a device's number, where CUDA 13 has a location.
  local location='cudaMemLocation{cudaMemLocationTypeDevice'
  perl -0pi -e "
    s/(cudaGraphAddDependencies\(graph, from, to,) numDependencies\)/\$1 nullptr, numDependencies)/;
    s/(cudaMemAdvise\(devPtr, count, advice,) device\)/\$1 $location, device})/;
    s/(cudaMemPrefetchAsync\(devPtr, count,) dstDevice,\s*/\$1 $location, dstDevice}, 0, /;" "$cuda"
  chmod +x "$folder/bin/nvcc_wrapper"
}

# build OPTIONS: installs into $prefix as a whole or not at all
build() {
  work=$(mktemp -d)  # not local: the trap needs it when this function has returned
  trap 'rm -rf "$work"' EXIT
  source_in "$work/source"
  { cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 \
      -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib "${@//@source@/$work/source}" &&
      nice cmake --build "$work/build" -j "$(nproc)" &&
      cmake --install "$work/build" --prefix "$work/install"; } >"$work/log" 2>&1 ||
    { tail -n 30 "$work/log" >&2; fail "Kokkos does not build"; }
  rm -rf "$prefix"
  mkdir -p "$(dirname "$prefix")"
  touch "$work/install/.complete"
  mv "$work/install" "$prefix"
}

(($# == 3)) || usage
prefix=$3
[[ ! -e $prefix/.complete ]] || exit 0
case "$1 $2" in
  "cuda sm_80") options=(-DKokkos_ENABLE_CUDA=ON -DKokkos_ARCH_AMPERE80=ON
    -DCMAKE_CXX_COMPILER=@source@/bin/nvcc_wrapper) ;;
  "cuda sm_90") options=(-DKokkos_ENABLE_CUDA=ON -DKokkos_ARCH_HOPPER90=ON
    -DCMAKE_CXX_COMPILER=@source@/bin/nvcc_wrapper) ;;
  "hip gfx90a") options=(-DKokkos_ENABLE_HIP=ON -DKokkos_ARCH_AMD_GFX90A=ON -DCMAKE_CXX_COMPILER=hipcc) ;;
  *) usage ;;
esac
build "${options[@]}"

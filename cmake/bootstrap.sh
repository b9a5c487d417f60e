#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   bash cmake/bootstrap.sh demo              installs the dependencies, then runs the example of examples/digits on 8
#                                             ranks
#   bash cmake/bootstrap.sh test [ARGS...]    installs the dependencies, then builds and runs the tests (ARGS go to
#                                             ctest)
#   bash cmake/bootstrap.sh test all [ARGS]   also runs the tests that only CI needs: tests with the label ci
#   bash cmake/bootstrap.sh project FOLDER    installs the dependencies, then builds the project in FOLDER on this
#                                             Ostraka and tests it; a new FOLDER becomes a copy of examples/template
#   bash cmake/bootstrap.sh deps [demo|test]  installs the dependencies only; the last line names Kokkos' CMake folder
#
# It installs missing dependencies on Debian or Ubuntu, as root. It uses everything that is already there, whatever its
# origin; if nothing is missing, it runs on any system and as any user. Kokkos with a parallel host backend comes from
# the first of: an installed one; one that this script has built before; the distribution's package; upstream's release;
# the distribution's source. OSTRAKA_CACHE holds the built ones (default: ~/.cache/ostraka). The compiler is CXX
# (default: g++). If it has no OpenMP, the script says so and uses a Kokkos with the Serial backend alone.

set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/ccache.sh

kokkos_release=4.7.02
kokkos_releases=https://github.com/kokkos/kokkos/releases/download
kokkos_release_url=${OSTRAKA_KOKKOS_URL:-$kokkos_releases/$kokkos_release/kokkos-$kokkos_release.tar.gz}
kokkos_release_sha256=${OSTRAKA_KOKKOS_SHA256:-a81826ac0a167933d13506bc2a986fb5517038df9abb780fe9bb2c1d4e80803b}

cxx=${CXX:-g++}
cache=${OSTRAKA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ostraka}
jobs=$(nproc 2>/dev/null || echo 2)

say() { echo "bootstrap: $*"; }
fail() {
  echo "bootstrap: $*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }
finds_header() { echo "#include <$1>" | "$cxx" -E -x c++ - >/dev/null 2>&1; }
compiler_has_openmp() { echo 'int main() {}' | "$cxx" -fopenmp -x c++ - -o /dev/null >/dev/null 2>&1; }
python_that() {
  local p
  for p in "$PWD/build/python/bin/python3" python3 /usr/bin/python3; do
    "$p" -c "$1" >/dev/null 2>&1 && { echo "$p"; return; }
  done
  return 1
}

# --- packages ---------------------------------------------------------------------------------------------------------

# Names the Debian packages of missing dependencies. A dependency counts as present if it can be used, whether or not a
# package manager knows it.
missing_packages() {
  has "$cxx" || echo g++
  has cmake || echo cmake
  has ninja || echo ninja-build
  has mpicxx || echo libopenmpi-dev
  has mpiexec || echo openmpi-bin
  [[ $1 == test ]] || return 0
  finds_header doctest/doctest.h || echo doctest-dev
  has valgrind || echo valgrind
  has mpicxx.mpich || echo libmpich-dev
  has mpiexec.mpich || echo mpich
  compgen -c clang++- | grep -qE '^clang\+\+-(1[6-9]|[2-9][0-9])$' || echo clang
  compgen -G '/usr/lib/llvm-*/lib/clang/*/include/omp.h' >/dev/null || echo libomp-dev
  has python3 || echo python3
}

# Names missing packages that are optional: a BLAS that is faster than our own kernels, a compilation cache, the HDF5 of
# Open MPI, oneDNN, the module that makes an environment for Python's packages, and the headers that a module of Python
# needs.
useful_packages() {
  finds_fast_blas || echo libopenblas-openmp-dev
  [[ $1 == test ]] || return 0
  has ccache || echo ccache
  finds_hdf5 || echo libhdf5-openmpi-dev
  finds_header oneapi/dnnl/dnnl.h || echo libdnnl-dev
  [[ -z ${CI:-} ]] || has clang-tidy-19 || echo clang-tidy-19  # for tests with the label ci
  python_that 'import venv, ensurepip' >/dev/null || echo python3-venv
  python_that 'import sysconfig; open(sysconfig.get_path("include") + "/Python.h")' >/dev/null || echo python3-dev
}

# netlib's reference BLAS does not count: cmake/OstrakaCblas.cmake recognises it by the same names.
finds_fast_blas() {
  local library function
  finds_header cblas.h || return 1
  for library in openblaso openblas blas cblas mkl_rt blis flexiblas; do
    links_with "$library" cblas_dgemm || continue
    links_with "$library" CBLAS_CallFromC || return 0
    for function in openblas_get_config bli_info_get_version_str MKL_Get_Version flexiblas_get_version ATL_buildinfo \
      armplversion; do
      links_with "$library" "$function" && return 0
    done
  done
  return 1
}
# True if some HDF5 is installed. CMake checks whether it was built for the MPI in use.
finds_hdf5() { compgen -G '/usr/include/hdf5/*/hdf5.h' >/dev/null || finds_header hdf5.h || [[ -n ${HDF5_ROOT:-} ]]; }
links_with() {
  echo "extern \"C\" void $2(); int main() { $2(); }" | "$cxx" -x c++ - -o /dev/null "-l$1" >/dev/null 2>&1
}

# "clang" stands for clang 19, whose errors docs/errors.md shows, or else for the newest version from 16 on.
with_versions() {
  local version name
  for name in "$@"; do
    if [[ $name == clang ]]; then
      for version in 19 $(apt-cache pkgnames clang- 2>/dev/null | sed -nE 's/^clang-([0-9]+)$/\1/p' | sort -rn); do
        ((version < 16)) || ! apt-cache show "clang-$version" >/dev/null 2>&1 || { name=clang-$version; break; }
      done
    fi
    echo "$name"
  done
}

apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }

# install PACKAGES: installs by the distribution's package manager; shows its output if it fails
install() {
  local packages log=$cache/apt.log
  say "installing $*"
  mapfile -t packages < <(with_versions "$@")
  apt_get install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
}

install_packages() {
  local missing useful
  mapfile -t missing < <(missing_packages "$1")
  mapfile -t useful < <(useful_packages "$1")
  ((${#missing[@]} + ${#useful[@]})) || return 0
  if has apt-get && ((EUID == 0)); then
    apt_get update || say "apt-get update failed; going on with the package lists that are there"
    install "${missing[@]}" "${useful[@]}" || ((${#missing[@]} == 0)) || install "${missing[@]}" ||
      fail "apt-get install ${missing[*]} failed"
    mapfile -t missing < <(missing_packages "$1")
    mapfile -t useful < <(useful_packages "$1")
    ((${#missing[@]} == 0)) || fail "still missing after installation: ${missing[*]}"
  elif has apt-get; then
    ((${#missing[@]} == 0)) ||
      fail "missing: ${missing[*]}; install them (apt-get install ${missing[*]} ${useful[*]}) or run this as root"
  else
    ((${#missing[@]} == 0)) ||
      fail "missing: what Debian calls ${missing[*]}; install it with this system's package manager and run this again"
  fi
  ((${#useful[@]} == 0)) || say "going on without ${useful[*]}: slower, or with tests skipped"
}

# --- Kokkos -----------------------------------------------------------------------------------------------------------

# Prints the version of the Kokkos in a CMake package folder if it is from 3.4 on and before 6, has a parallel host
# backend that the compiler can use, needs no device compiler, and has the libraries that it names (Debian's 5.2.2-2
# does not); fails otherwise.
usable_kokkos() {
  local dir=$1 version devices library
  [[ -e $dir/KokkosConfig.cmake && -e $dir/KokkosConfigVersion.cmake && -e $dir/KokkosConfigCommon.cmake ]] || return 1
  version=$(sed -nE 's/^ *set *\( *PACKAGE_VERSION +"?([0-9.]+)"?.*/\1/Ip' "$dir/KokkosConfigVersion.cmake" | head -n 1)
  devices=$(grep -iE '^ *set *\( *Kokkos_DEVICES' "$dir/KokkosConfigCommon.cmake" || true)
  [[ $version =~ ^(3\.([4-9]|[1-9][0-9])|4\.|5\.) ]] || return 1
  if [[ $openmp == ON ]]; then
    grep -qiE 'OPENMP|THREADS' <<<"$devices" || return 1
  else
    ! grep -qi 'OPENMP' <<<"$devices" || return 1
  fi
  ! grep -qiE 'CUDA|HIP|SYCL|OPENMPTARGET|OPENACC' <<<"$devices" || return 1
  for library in $(grep -hoE 'libkokkos[a-z]+\.(a|so)[0-9.]*' "$dir"/KokkosTargets-*.cmake); do
    [[ -e $dir/../../$library ]] || return 1
  done
  echo "$version"
}

# Sets kokkos_dir to the first usable Kokkos below the prefixes given.
find_kokkos() {
  local prefix dir version
  for prefix in "$@"; do
    for dir in "$prefix" "$prefix"/lib{,64,/*-linux-gnu*}/cmake/Kokkos; do
      if version=$(usable_kokkos "$dir"); then
        kokkos_dir=$dir
        kokkos_version=$version
        return 0
      fi
    done
  done
  return 1
}

installed_prefixes() {
  local prefixes
  IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  prefixes=("${Kokkos_DIR:-}" "${Kokkos_ROOT:-}" "${prefixes[@]}" /usr/local /usr /opt/kokkos)
  local prefix
  for prefix in "${prefixes[@]}"; do [[ -n $prefix ]] && echo "$prefix"; done
}

# build_kokkos SOURCE PREFIX: installs as a whole or not at all, so that an interrupted run leaves nothing that looks
# finished.
build_kokkos() {
  local source=$1 prefix=$2 log=$work/build.log
  cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_CXX_STANDARD=20 \
    -DKokkos_ENABLE_OPENMP=$openmp -DKokkos_ENABLE_SERIAL=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DKokkos_ENABLE_TESTS=OFF -DKokkos_ENABLE_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX="$prefix" >"$log" 2>&1 &&
    cmake --build "$work/build" -j "$jobs" >>"$log" 2>&1 &&
    cmake --install "$work/build" --prefix "$work/install" >>"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
  rm -rf "$prefix"
  mv "$work/install" "$prefix"
}

distribution_package() {
  ((EUID == 0)) && has apt-cache && apt-cache show libkokkos-dev >/dev/null 2>&1 || return 1
  say "Kokkos: installing the distribution's package libkokkos-dev"
  apt_get install -y --no-install-recommends libkokkos-dev >"$work/apt.log" 2>&1 && find_kokkos /usr
}

upstream_release() {
  local prefix=$cache/kokkos-upstream-$tag
  say "Kokkos: trying upstream's release $kokkos_release"
  cat >"$work/download.cmake" <<EOF
file(DOWNLOAD "$kokkos_release_url" "$work/kokkos.tar.gz" TIMEOUT 60 INACTIVITY_TIMEOUT 10 STATUS status)
list(GET status 0 code)
file(SHA256 "$work/kokkos.tar.gz" hash)
if(NOT code EQUAL 0 OR NOT hash STREQUAL "$kokkos_release_sha256")
  message(FATAL_ERROR "not downloaded: \${status}, SHA-256 \${hash}")
endif()
EOF
  timeout 70 cmake -P "$work/download.cmake" >"$work/download.log" 2>&1 ||
    { say "Kokkos: upstream's release cannot be had here"; return 1; }
  mkdir -p "$work/source"
  tar -xzf "$work/kokkos.tar.gz" -C "$work/source" --strip-components=1 && build_kokkos "$work/source" "$prefix" &&
    find_kokkos "$prefix"
}

# Uses the machine's own package sources, with source packages enabled, in a private apt configuration that is deleted
# with the work folder.
distribution_source() {
  local prefix=$cache/kokkos-distribution-$tag apt=$work/apt file
  has apt-get || return 1
  say "Kokkos: building the one in the distribution's source package trilinos"
  mkdir -p "$apt"/{sources,lists/partial,cache/archives/partial,download}
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -e $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/sources/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -e $file ]] && sed -nE 's/^deb(-src)? /deb-src /p' "$file" |
      sort -u >"$apt/sources/$(basename "$file" .list).list"
  done
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources"
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)"
    -o Acquire::Languages=none -o Acquire::http::Timeout=20)
  (
    cd "$apt/download"
    apt-get "${options[@]}" update || true  # a package source without sources does not stop the script
    apt-get "${options[@]}" --download-only source trilinos
  ) >"$work/apt.log" 2>&1 ||
    { tail -n 5 "$work/apt.log" >&2; say "Kokkos: the distribution's source cannot be had"; return 1; }
  mkdir -p "$work/distribution"
  tar -xf "$apt"/download/trilinos_*.orig.tar.* -C "$work/distribution" --strip-components=1 \
    --wildcards '*/packages/kokkos/*' &&
    build_kokkos "$work/distribution/packages/kokkos" "$prefix" && find_kokkos "$prefix"
}

provide_kokkos() {
  local prefixes
  openmp=ON
  compiler_has_openmp || openmp=OFF
  [[ $openmp == ON ]] || say "$cxx has no OpenMP runtime: Kokkos with its Serial backend alone"
  tag=${cxx##*/}
  mapfile -t prefixes < <(installed_prefixes)
  if find_kokkos "${prefixes[@]}"; then
    say "Kokkos $kokkos_version, installed"
    return
  fi
  exec {lock}>"$cache/lock"
  flock "$lock"  # two simultaneous runs build one Kokkos
  if find_kokkos "$cache"/kokkos-*-"$tag"; then
    say "Kokkos $kokkos_version, built earlier ($cache)"
  else
    work=$(mktemp -d "$cache/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    distribution_package || upstream_release || distribution_source ||
      fail "no Kokkos with OpenMP: install one (3.4 or later, before 6) and name its prefix in Kokkos_ROOT"
    say "Kokkos $kokkos_version, now in $kokkos_dir"
    rm -rf "$work"
    trap - EXIT
  fi
  exec {lock}>&-
}

# --- Python -----------------------------------------------------------------------------------------------------------

# Sets `python` to one that has NumPy, ml_dtypes, safetensors and h5py, whose files tests compare with ours, and mpi4py
# and nanobind, which pass arrays: the machine's, or else one in build/python, into which pip installs them from its
# configured index. Without them the tests that need them say SKIPPED, and so does this.
provide_python() {
  local files='import numpy, ml_dtypes, safetensors' more='import h5py, mpi4py, nanobind' venv=$PWD/build/python \
    log=build/python.log maker
  python=$(python_that "$files; $more") && return
  "$venv/bin/python3" -c "$files" >/dev/null 2>&1 || {
    say "installing numpy, ml_dtypes and safetensors into build/python"
    for maker in python3 /usr/bin/python3; do
      rm -rf "$venv"
      "$maker" -m venv "$venv" >"$log" 2>&1 && pip_installs numpy ml_dtypes safetensors &&
        "$venv/bin/python3" -c "$files" >>"$log" 2>&1 && break
    done
  }
  if "$venv/bin/python3" -c "$files" >/dev/null 2>&1; then
    say "installing h5py, mpi4py and nanobind into build/python"
    pip_installs h5py || say "SKIPPED: h5py cannot be had ($log), so no HDF5 files are exchanged with it"
    pip_installs mpi4py nanobind ||
      say "SKIPPED: mpi4py and nanobind cannot be had ($log), so no arrays are passed between Python and the library"
    python=$venv/bin/python3
    return
  fi
  tail -n 3 "$log" >&2
  say "SKIPPED: numpy, ml_dtypes and safetensors cannot be had ($log), so no files are exchanged with them"
  python=$(python_that 'import numpy') && return
  ! { has apt-get && ((EUID == 0)); } || install python3-numpy || true
  python=$(python_that 'import numpy' || echo python3)
}
# Installs into provide_python's environment.
pip_installs() {
  timeout 600 "$venv/bin/python3" -m pip install --disable-pip-version-check --retries 1 --timeout 20 "$@" >>"$log" 2>&1
}

# --- build, demo, test ------------------------------------------------------------------------------------------------

# configure TESTS EVERYTHING: ON or OFF each
configure() {
  local tests=$1 everything=$2 generator="" home="" python=python3
  if [[ -e build/CMakeCache.txt ]]; then
    generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' build/CMakeCache.txt)
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' build/CMakeCache.txt)
    if [[ $generator != Ninja || $home != "$PWD" ]]; then
      say "build/ was configured by something else; starting it anew"
      rm -rf build
    fi
  fi
  mkdir -p build
  [[ $tests == OFF ]] || provide_python
  local launcher
  launcher=$(ccache_launcher "$PWD" "$cache")
  # Code that is tested, not timed, compiles in a third of the time.
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" -DKokkos_DIR="$kokkos_dir" \
    -DOSTRAKA_BUILD_TESTS="$tests" -DOSTRAKA_BUILD_COMPILED="$tests" \
    -DOSTRAKA_TEST_EXAMPLE_OPTIONS=-O1 -DOSTRAKA_TEST_ENGINE_OPTIONS=-O2 -DOSTRAKA_TEST_EVERYTHING="$everything" \
    -DOSTRAKA_FILES_PYTHON="$python" \
    ${launcher:+"-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher"} >build/configure.log 2>&1 ||
    { cat build/configure.log >&2; fail "cmake failed"; }
  grep -E '^-- ostraka' build/configure.log || true
}

demo() {
  say "building examples/digits in build/"
  configure OFF OFF
  cmake --build build -j "$jobs" --target digits
  local launcher
  launcher=$(sed -n 's/^MPIEXEC_EXECUTABLE:[^=]*=//p' build/CMakeCache.txt)
  # Allows runs as root and with more ranks than cores, as Open MPI 4 and 5 require; MPICH allows both.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_mpi_yield_when_idle=1
  export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    PRTE_MCA_hwloc_default_binding_policy=none
  export OMP_NUM_THREADS=1 OMP_PROC_BIND=false OPENBLAS_NUM_THREADS=1 KOKKOS_DISABLE_WARNINGS=1
  say "examples/digits on 8 ranks"
  "$launcher" -n 8 build/examples/digits
  say "next: docs/tour.md, an introduction to the library"
  say "      bash cmake/bootstrap.sh project ../my_project, a project of your own, built and tested"
  say "      examples/README.md, whole programs, from four products of matrices to a transformer"
}

# project FOLDER: builds and tests a user's project against this Ostraka, which it installs in build/project
project() {
  local folder=$1 prefix=$PWD/build/project/prefix
  [[ $folder == /* ]] || folder=$called_from/$folder
  mkdir -p "$folder" build/project
  folder=$(cd "$folder" && pwd)
  if [[ ! -e $folder/CMakeLists.txt ]]; then
    [[ -z $(ls -A "$folder") ]] ||
      fail "$folder has files, but no CMakeLists.txt: name a project, or a folder to make one in"
    cp -R examples/template/. "$folder"
    say "examples/template is now in $folder"
  fi
  {
    cmake -S . -B build/project -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DKokkos_DIR="$kokkos_dir" \
      -DOSTRAKA_BUILD_TESTS=OFF -DOSTRAKA_BUILD_EXAMPLES=OFF &&
      cmake --install build/project --prefix "$prefix"
  } >build/project/install.log 2>&1 ||
    { cat build/project/install.log >&2; fail "Ostraka could not be installed in build/project"; }
  # Builds with Ninja, which the script installs, since a fresh Debian has no make. An existing build folder keeps its
  # generator.
  CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja} cmake -S "$folder" -B "$folder/build" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_PREFIX_PATH="$prefix" -DKokkos_DIR="$kokkos_dir"
  cmake --build "$folder/build" -j "$jobs"
  ctest --test-dir "$folder/build" --output-on-failure
  say "next: change it, then cmake --build $folder/build && ctest --test-dir $folder/build"
}

run_tests() {
  local everything=OFF status=0 line
  if [[ ${1:-} == all ]]; then
    everything=ON
    shift
  fi
  say "building the tests in build/"
  configure ON $everything
  cmake --build build -j "$jobs"
  say "testing"
  # ranks wait for their start and end, and for each other
  ctest --test-dir build --output-on-failure -j "$((3 * jobs))" "$@" || status=$?
  # Shows what was not tested, and how to test it.
  while read -r line; do
    say "$line"
  done < <(sed -nE 's/^(-- )?(SKIPPED: .*)/\2/p' build/Testing/Temporary/LastTest.log | sort -u)
  sed -nE 's/^-- ostraka: (left out.*)/bootstrap: \1/p' build/configure.log
  return $status
}

mode=${1:-}
shift || true
case $mode in
  demo | test) needs=$mode ;;
  project)
    needs=demo
    [[ -n ${1:-} ]] || fail "usage: bash cmake/bootstrap.sh project FOLDER"
    ;;
  deps) needs=${1:-test} ;;
  *) fail "usage: bash cmake/bootstrap.sh demo | test [all] [ctest arguments] | project FOLDER | deps [demo|test]" ;;
esac
mkdir -p "$cache"
install_packages "$needs"
provide_kokkos
case $mode in
  demo) demo ;;
  test) run_tests "$@" ;;
  project) project "$1" ;;
  deps) echo "$kokkos_dir" ;;
esac

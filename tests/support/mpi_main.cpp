// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The runner for tests on several ranks: initialises MPI and Kokkos, runs doctest on every rank, and fails on all if
/// it failed on one. Rank 0 prints its report. The others hold theirs back until something fails there; from then on
/// they print, each line marked with its rank, at once, because the next collective may hang.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "support/mpi_main.hpp"

#if OSTRAKA_ENABLE_MPI
#include <mpi.h>
#endif

namespace {

/// Holds text back until release(); from then on prints every finished line with its prefix.
class held_report : public std::streambuf {
 public:
  void begin(int rank) {
    rank_ = rank;
    released_ = rank == 0;
  }
  void release() {
    released_ = true;
    print_lines();
  }

 private:
  int_type overflow(int_type character) override {
    if (character == traits_type::eof()) return character;
    text_.push_back(static_cast<char>(character));
    if (character == '\n' && released_) print_lines();
    return character;
  }
  void print_lines() {
    std::size_t begin = 0;
    for (std::size_t end; (end = text_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      std::string const line = text_.substr(begin, end - begin);
      if (rank_ == 0) {
        std::printf("%s\n", line.c_str());
      } else {
        std::printf("[rank %d] %s\n", rank_, line.c_str());
      }
    }
    text_.erase(0, begin);
    std::fflush(stdout);
  }

  std::string text_;
  int rank_ = 0;
  bool released_ = true;
};

held_report report;

/// Releases the report when an assertion fails or a test case throws or crashes.
struct release_on_failure : doctest::IReporter {
  explicit release_on_failure(doctest::ContextOptions const&) {}
  void log_assert(doctest::AssertData const& assertion) override {
    if (assertion.m_failed) report.release();
  }
  void test_case_exception(doctest::TestCaseException const&) override { report.release(); }
  void log_message(doctest::MessageData const&) override {}
  void report_query(doctest::QueryData const&) override {}
  void test_run_start() override {}
  void test_run_end(doctest::TestRunStats const&) override {}
  void test_case_start(doctest::TestCaseData const&) override {}
  void test_case_reenter(doctest::TestCaseData const&) override {}
  void test_case_end(doctest::CurrentTestCaseStats const&) override {}
  void subcase_start(doctest::SubcaseSignature const&) override {}
  void subcase_end() override {}
  void test_case_skipped(doctest::TestCaseData const&) override {}
};
DOCTEST_REGISTER_LISTENER("release_on_failure", 1, release_on_failure);

int world_rank = 0;
int world_size = 1;

// Treats host memory as a GPU's if OSTRAKA_TEST_GPU says so: ostraka_add_mpi_test runs some tests again that way.
void emulate_gpu() {
  using ostraka::engine::emulated_gpu;
  char const* const said = std::getenv("OSTRAKA_TEST_GPU");
  if (said == nullptr) return;
  ostraka::engine::emulated = std::string_view(said) == "direct" ? emulated_gpu::direct : emulated_gpu::staged;
}

int run_doctest(int argc, char** argv) {
  std::ostream out(&report);
  report.begin(world_rank);
  doctest::Context context(argc, argv);
  context.setCout(&out);
  context.setOption("no-colors", true);  // mpirun's pseudo-terminal looks like a reader's
  int const result = context.run();
  if (result != 0) report.release();
  return result;
}

}  // namespace

namespace ostraka::testing {
int rank() { return world_rank; }
int ranks() { return world_size; }
[[gnu::weak]] bool uses_several_threads() { return false; }
}  // namespace ostraka::testing

int main(int argc, char** argv) {
#if OSTRAKA_ENABLE_MPI
  int provided = 0;
  MPI_Init_thread(&argc, &argv, ostraka::testing::uses_several_threads() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
#endif
  int result = 0;
  Kokkos::initialize(argc, argv);
  emulate_gpu();
  result = run_doctest(argc, argv);
#if OSTRAKA_ENABLE_MPI
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
#endif
  Kokkos::finalize();
#if OSTRAKA_ENABLE_MPI
  MPI_Finalize();
#endif
  return result;
}

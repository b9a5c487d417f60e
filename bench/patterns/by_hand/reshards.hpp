// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Reshards of A[I, J] by hand; `rows` and `columns` are global and divide evenly.

#include <memory>

#include "plain.hpp"

namespace by_hand {

/// [I_X, J] -> [I, J_X]: columns are packed, rows arrive in place.
inline ways all_to_all(group const& g, int rows, int columns, element const* a, element* c) {
  int const here = rows / g.size;
  int const part = columns / g.size;
  int const count = here * part;
  auto const packed = std::make_shared<buffer>(area(here, columns));
  auto const pairs = std::make_shared<swap_of_parts>(
      g, count, [&](int d) { return packed->data() + area(d, count); }, [=](int d) { return c + area(d, count); });
  auto const pack = [=](int d, element* to) { copy(here, part, a + d * part, columns, to, part); };
  // A column of blocks as one element of an MPI datatype, one part wide, so that MPI packs it.
  auto const strided = std::shared_ptr<MPI_Datatype>(new MPI_Datatype, [](MPI_Datatype* type) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Type_free(type);
    delete type;
  });
  MPI_Datatype plain = MPI_DATATYPE_NULL;
  MPI_Type_vector(here, part, columns, message_type(), &plain);
  MPI_Type_create_resized(plain, 0, static_cast<MPI_Aint>(sizeof(element)) * part, strided.get());
  MPI_Type_commit(strided.get());
  MPI_Type_free(&plain);
  return {{"pack, all-to-all",
           [=] {
             for (int d = 0; d < g.size; ++d) pack(d, packed->data() + area(d, count));
             MPI_Alltoall(packed->data(), count, message_type(), c, count, message_type(), g.comm);
           }},
          {"pack, pairs",
           [=] {
             for (int d = 0; d < g.size; ++d)
               pack(d, d == g.rank ? c + area(d, count) : packed->data() + area(d, count));
             pairs->run();
           }},
          {"all-to-all of a strided type", [=] { MPI_Alltoall(a, 1, *strided, c, count, message_type(), g.comm); }}};
}

/// [I_XY, J] -> [I_Y, J] on X × Y: the major mesh axis goes, so it is no gather of neighbours. `all` has the ranks in
/// the mesh's order.
inline ways drop_major(group const& all, int x, int y, int rows, int columns, element const* a, element* c) {
  int const count = rows / all.size * columns;
  struct traffic {
    std::vector<MPI_Request> requests;
  };
  auto const t = std::make_shared<traffic>(traffic{std::vector<MPI_Request>(area(2, all.size))});
  int const mine = all.rank;         // this rank's block of I_XY
  int const begin = all.rank % y * x;  // the first of the blocks that form its block of I_Y
  auto const run = [=] {
    std::size_t n = 0;
    for (int b = begin; b < begin + x; ++b)
      if (b != mine) MPI_Irecv(c + area(b - begin, count), count, message_type(), b, 0, all.comm, &t->requests[n++]);
    for (int step = 0; step < x; ++step) {
      int const to = step * y + mine / x;
      if (to != mine) MPI_Isend(a, count, message_type(), to, 0, all.comm, &t->requests[n++]);
    }
    if (mine >= begin && mine < begin + x)
      std::memcpy(c + area(mine - begin, count), a, sizeof(element) * static_cast<std::size_t>(count));
    MPI_Waitall(static_cast<int>(n), t->requests.data(), MPI_STATUSES_IGNORE);
  };
  ways found = {{"pairs", run}};
  if (y == 1)
    found.push_back(
        {"all-gather", [=] { MPI_Allgather(a, count, message_type(), c, count, message_type(), all.comm); }});
  return found;
}

/// [I_XY, J] -> [I_YX, J] on X × Y: whole blocks change places.
inline ways swap_order(group const& all, int x, int y, int rows, int columns, element const* a, element* c) {
  int const count = rows / all.size * columns;
  int const from = all.rank % y * x + all.rank / y;  // the rank that sends the block for this rank
  int const to = all.rank % x * y + all.rank / x;    // the rank that receives this rank's block
  auto const stays = [=] { std::memcpy(c, a, sizeof(element) * static_cast<std::size_t>(count)); };
  return {{"sendrecv", [=] {
             if (from == all.rank) return stays();
             MPI_Sendrecv(a, count, message_type(), to, 0, c, count, message_type(), from, 0, all.comm,
                          MPI_STATUS_IGNORE);
           }},
          {"pairs", [=] {
             if (from == all.rank) return stays();
             MPI_Request requests[2];
             MPI_Irecv(c, count, message_type(), from, 0, all.comm, &requests[0]);
             MPI_Isend(a, count, message_type(), to, 0, all.comm, &requests[1]);
             MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
           }}};
}

}  // namespace by_hand

#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace model {

// How a reader tells which version it reads, and how a writer finds out, over simulated store buffers: a store reaches
// the others later, and stores to different words in any order, unless a fence waits for them.
//
//   reader: load current; store pin; fence; load current; if it moved: clear the pin and start over; read
//   writer: store current; ...; load current; fence; load each pin; overwrite older versions that no pin names
enum class Registering { asWritten, noReaderFence, noWriterFence, noSecondLoad };

struct Registration {
  size_t states = 0;
  std::string violation;
  std::vector<std::string> trace;
};

// All interleavings of two readers and one writer over three versions.
Registration searchRegistration(Registering how);

}  // namespace model

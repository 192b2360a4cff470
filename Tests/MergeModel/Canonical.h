#pragma once
#include <string>

#include "Values.h"

namespace model {

// What an app can see of a slot, element ids included; with lists in the order of ids if `isSorted`.
//
//   n      null                (3:7;6:<1,>;)   an object: properties and values, without those that are null or empty
//   7      a number            ~               an absent object
//   "7"    a text              [5:7,6:8,]      a list: element ids and values
//   >7     a link              <7,8,>          a set
//   -      an absent entry     {1=7,2=8,}      a dictionary: keys and values
//                              L[...] D{...}   a mixed value that is a list or a dictionary
std::string canonical(const Slot& slot, bool isSorted = false);
// Whether the canonical text of a property is left out.
bool isBlank(const std::string& canonicalText);

// All of a slot, records included. Only records write an "@".
void describe(const Slot& slot, std::string& all);
std::string describe(const Slot& slot);

// The value of the field that query sets and rights read, modulo 4.
int filterOf(const Slot& object);
inline bool matches(int mask, int filter) {
  return mask >> filter & 1;
}

}  // namespace model

#pragma once
#include <string>
#include <vector>

namespace model {

// Each rule that can be left out by name. `none` is the protocol as written.
enum class Rule {
  none,
  otherMetaPage,
  notInFlight,
  holdDurable,
  holdPinned,
  verifyAll,
  recoverySync,
  syncUnlessDurable,
  notInPlace,
  distrustCache,
  newNumber,
  overwriteRejected,
  rewriteUnsure,
  keepDurablePage,
  syncLargeNodes,
  flagOnlyItself,
  syncFlaggedPage,
  oneSyncAtATime,
  markThroughRewriting,
  appendRewritten,
  everyonesPins,
  expireEverywhere,
  inWriteMark,
  keepSyncMark,
  keepFailedMark,
  marksGoLast,
  durableInOneWord,
  expireBelowPublished,
  failAllPending,
  holdPending,
  catchUp,
  ringIsWhole,
  epochOfMap,
  walkPins,
  walkDurable,
  walkPending,
  appendWhileWalking,
  freeFromBirth,
  holdUntilFreed,
  holdNamed,
  holdDropped,
  nameDurable,
  walkNamed,
};

struct RuleText {
  Rule rule;
  const char* name;
  const char* profile;  // the bounds within which leaving it out must be found
  const char* without;  // what happens when the rule is left out
};

extern const std::vector<RuleText> ruleTexts;

}  // namespace model

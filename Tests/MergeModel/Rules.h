#pragma once
#include <vector>

namespace model {

// Each rule that a run can break, to show that the checks find it. The numbers are those of the command line; `none`
// is the rules as they are meant.
enum class Rule {
  none = 0,
  deleteBeatsCreation = 1,
  killHidesEdits = 2,
  laterDeleteStays = 3,
  clearKillsArrivingInserts = 4,
  clearTakesLaterElements = 5,
  membersByStamp = 6,
  defaultsYield = 7,
  registersByStamp = 8,
  earlierInsertFirst = 9,
  anchorBackwardRuns = 10,
  passWholeRuns = 11,
  movesByStamp = 12,
  laterSetBeatsAdd = 13,
  setKeepsLaterAdds = 14,
  seenIsOlder = 15,
  testDuplicates = 16,
  dropAcknowledged = 17,
  boundClocks = 18,
  beforeFirstEntry = 19,
  membershipFromHistory = 20,
  trimAtHorizon = 21,
  keepRecordsWhilePending = 22,
  ownKindWriteCounts = 23,
  kindChangeTakesContents = 24,
  clearWritesKind = 25,
  nilBeatsNewEmbedded = 26,
  sendLeave = 27,
  fenceBeforeReset = 28,
  refusalLeavesObject = 29,
  refusalIsPure = 30,
  sessionNotBehind = 31,
  ownIsSeen = 32,
  passDeadPositions = 33,
  lostMoveLeavesPosition = 34,
  asWrittenIsExact = 35,
  stageDownloads = 36,
  firstDefinitionCounts = 38,
  ingestOnce = 39,
  orderIgnoresAcknowledged = 40,
  nameDeadPositions = 41,
  cursorWithData = 42,
  keepUntilAcknowledged = 43,
  dropRefused = 45,
  recoverPending = 48,
  recoverOnce = 49,
  baseWhenWritten = 52,
  showLosersAnew = 53,
  matchInBetween = 54,
  oldStateWritable = 55,
  newStateWritable = 56,
  creationInQuerySet = 57,
  ownPositionFirst = 58,
  creationNeedsSight = 59,
  scopeIsRight = 60,
  baseAtRegistration = 61,
  translateIds = 62,
  onlyOwnIds = 63,
  baseWasTold = 64,
  baseInLog = 65,
  compareTags = 66,
  acceptOfferedNumber = 67,
  checkIdentity = 68,
  testNamedSet = 69,
  sendSetsInOrder = 70,
  ignoreInvalidSets = 71,
  hideDeletesOutsideView = 72,
  hideDeletesAcrossFilters = 73,
  scopeGuardsField = 74,
  scopeWritesField = 75,
  refuseEditsOnTop = 76,
  renewIdsOfCopies = 77,
  recoverByContent = 78,
  liftFirstStamps = 79,
  refuseOtherTypes = 80,
  undoRevivesMoved = 81,
  undoRestoresContents = 82,
  keepCreationsWhole = 83,
};

struct RuleText {
  Rule rule;
  const char* broken;  // what happens when the rule is broken
};

extern const std::vector<RuleText> ruleTexts;
extern Rule brokenRule;

inline bool isBroken(Rule rule) {
  return brokenRule == rule;
}
inline bool keeps(Rule rule) {
  return brokenRule != rule;
}

}  // namespace model

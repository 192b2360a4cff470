/// The places of things in the memory that the participants of a database share, in bytes.
///
/// The memory means nothing in another boot, so its layout may change between versions of the engine. `layout` tells
/// apart two versions that run at once. Within one boot, this memory may hold the only record of a failed sync.
/// Therefore, a layout whose words kept their meaning takes over the memory of the layout before it
/// (`ControlBlock.adoptLastDraft`).
package enum ControlPlace {
  /// The number of this layout. The engine does not understand other layouts.
  package static let layout: UInt64 = 0x7265_616c_6d00_0003
  /// The layout of libraries that know only drafts of the file format. It differs from this layout in its number alone.
  package static let layoutOfLastDraft: UInt64 = 0x7265_616c_6d00_0002

  /// The word that records a sync that failed or is not known to have succeeded; zero if there is none.
  package static let syncWord = 8
  package static let participants = 4096
  package static let participantBytes = 64
  package static let participantCount = 256

  package static let ring = participants + participantCount * participantBytes
  package static let ringBytes = 64 << 10

  /// Segments of reader and version entries, added as they are needed and never moved.
  package static let segments = ring + ringBytes
  package static let entriesPerSegment = 512
  package static let readerBytes = 32
  package static let versionBytes = 64
  package static let segmentBytes = entriesPerSegment * (readerBytes + versionBytes)
  package static let segmentCount = 64

  package static let leastBytes = segments + segmentBytes
  package static let mostBytes = segments + segmentCount * segmentBytes
}

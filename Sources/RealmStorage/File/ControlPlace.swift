/// Where things stand in the memory that participants of a database share, in bytes.
///
/// It means nothing to another boot, so its layout may change between versions of the engine; `layout` tells two apart
/// that run at once. In one boot it may be all that knows of a failed sync: a layout whose words mean what they meant before
/// takes over what was left (`ControlBlock.adoptLastDraft`).
package enum ControlPlace {
  /// Of this layout. Another one is not understood.
  package static let layout: UInt64 = 0x7265_616c_6d00_0003
  /// The layout of libraries that know drafts of the file format only. Nothing but the number was another.
  package static let layoutOfLastDraft: UInt64 = 0x7265_616c_6d00_0002

  /// The word that tells of a sync without a good outcome; zero where there is none.
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

import SyncPrograms

extension ServerProgram {
  /// Bytes that the server holds in memory; nil where the system does not tell it.
  var memory: Int? { ProcessFigures.bytes("VmRSS", of: "\(number)") }

  /// Seconds of a processor that the server has used; nil where the system does not tell it.
  var processorSeconds: Double? { ProcessFigures.processorSeconds(of: "\(number)") }
}

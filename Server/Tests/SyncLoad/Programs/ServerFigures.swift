import SyncPrograms

extension ServerProgram {
  /// The bytes that the server holds in memory; nil if the system does not report it.
  var memory: Int? { ProcessFigures.bytes("VmRSS", of: "\(number)") }

  /// The seconds of processor time that the server has used; nil if the system does not report it.
  var processorSeconds: Double? { ProcessFigures.processorSeconds(of: "\(number)") }
}

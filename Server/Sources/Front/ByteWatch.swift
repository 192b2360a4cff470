import NIOCore

/// Sees the bytes of a connection before they are read as HTTP.
///
/// The reader of HTTP tells of whole heads only. This one tells when the first byte of one comes.
final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// What comes is thrown away.
  var isClosed = false
  /// Called whenever bytes come.
  var onBytes: (() -> Void)?
  /// The bytes of the first line since the last request was answered, as far as it has come.
  private(set) var firstLine = 0
  private var hasLine = false

  /// What comes from now on begins with a line.
  func restart() { (firstLine, hasLine) = (0, false) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosed else { return }
    if !hasLine { count(unwrapInboundIn(data).readableBytesView) }
    onBytes?()
    context.fireChannelRead(data)
  }

  private func count(_ bytes: ByteBufferView) {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    firstLine += (end ?? bytes.endIndex) - bytes.startIndex
    hasLine = end != nil
  }
}

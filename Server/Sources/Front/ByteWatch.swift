import NIOCore

/// Sees the bytes of a connection before they are read as HTTP.
///
/// The reader of HTTP reports complete heads only. This handler reports the first byte of a head.
final class ByteWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// True if the bytes that come are thrown away.
  var isClosed = false
  /// It is called whenever bytes come.
  var onBytes: (() -> Void)?
  /// The number of bytes of the first line since the last request was answered, as far as the line has come.
  private(set) var firstLine = 0
  private var hasLine = false

  /// Counts from here on as the beginning of a first line.
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

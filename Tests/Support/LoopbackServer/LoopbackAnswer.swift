/// A response of a ``LoopbackServer``, correct or faulty.
public enum LoopbackAnswer: Sendable {
    /// A complete response with a status, header fields and a body.
    case whole(status: Int = 200, headerLines: [String] = [], body: [UInt8] = [])
    /// A head that promises a number of bytes, and fewer bytes.
    case cutOff(promised: Int, sent: Int)
    /// No response. The connection stays open until the client closes it.
    case never
    /// A head without a length, and a body without an end. After 62 MiB, the server sends nothing more.
    case endless
    /// The given bytes. The connection then stays open until the client closes it.
    case begun([UInt8])
    /// The given parts, each when a gate lets it through. The connection then stays open until the client closes it.
    case trickled([[UInt8]], through: LoopbackGate)
    /// The given bytes, which need not be HTTP. The server then closes the connection.
    case raw([UInt8])
    /// Another response, when a gate lets it through.
    indirect case held(at: LoopbackGate, Self)
    /// Another response, after which the server closes the connection without having announced it.
    indirect case last(Self)
    /// Another response, followed by an action before the next request is read.
    indirect case followed(Self, by: @Sendable () -> Void)
}

/// How a ``LoopbackServer`` answers a request.
public enum LoopbackAnswer: Sendable {
    /// With a status, header fields and a body.
    case whole(status: Int = 200, headerLines: [String] = [], body: [UInt8] = [])
    /// With a head that promises so many bytes, and fewer of them.
    case cutOff(promised: Int, sent: Int)
    /// Not at all, until who asked hangs up.
    case never
    /// With a head that promises no length, and a body that does not end: after 62 MiB nothing comes any more.
    case endless
    /// With these bytes, and nothing behind them until who asked hangs up.
    case begun([UInt8])
    /// With these parts, each as soon as a gate lets it through, and nothing behind them until who asked hangs up.
    case trickled([[UInt8]], through: LoopbackGate)
    /// With bytes that need not be HTTP, and the end of the connection.
    case raw([UInt8])
    /// As another answer says, as soon as a gate lets it through.
    indirect case held(at: LoopbackGate, Self)
    /// As another answer says, and with the end of the connection behind it, of which nothing is said before.
    indirect case last(Self)
    /// As another answer says, and then something is done, before anything else is read from the connection.
    indirect case followed(Self, by: @Sendable () -> Void)
}

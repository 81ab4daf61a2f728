public import InwardFetching

/// What an ``OutboxSettler`` lets writes do: a method, and the paths that it may be sent to.
///
///     OutboxOperation(.put, "posts/*")
///
/// An ``Outbox`` accepts and sends only writes that match an operation of their endpoint, so that a handler never meets a write
/// that it does not understand, and a damaged or foreign record never sends credentials elsewhere.
public struct OutboxOperation: Hashable, Sendable, CustomStringConvertible {
    /// How the write is sent.
    public let method: DataRequest.Method
    /// Where it is sent to, relative to the upstream. A component `*` stands for any one component: `posts/*`.
    public let path: String

    /// Declares a method and the paths it may be sent to.
    ///
    /// - Parameters:
    ///   - method: How the write is sent.
    ///   - path: Where it is sent to, relative to the upstream. A component `*` stands for any one component.
    public init(_ method: DataRequest.Method, _ path: String) {
        self.method = method
        self.path = path
    }

    /// Returns whether a write has this method and a path that matches.
    ///
    /// Paths with an empty component, `.` or `..` never match, because they lead elsewhere (RFC 3986 section 5.2.4).
    public func matches(_ write: OutboxWrite) -> Bool {
        guard write.method == method else { return false }
        if path.isEmpty { return write.path.isEmpty }
        var expected = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
        for component in write.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let pattern = expected.popFirst(), Self.isName(component) else { return false }
            guard pattern.elementsEqual("*".utf8) || pattern.elementsEqual(component) else { return false }
        }
        return expected.isEmpty
    }

    private static func isName(_ component: Substring.UTF8View) -> Bool {
        if component.isEmpty || component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) { return false }
        // No separator of another system, and nothing that a log or a header would show as something else.
        return component.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    }

    /// The method and the paths: `PUT posts/*`.
    public var description: String { "\(method) \(path)" }
}

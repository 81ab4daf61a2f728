/// A request that a ``LoopbackServer`` received.
public struct LoopbackRequest: Hashable, Sendable {
    /// The method.
    public let method: String
    /// The path with the query.
    public let target: String
    /// The lines of the header fields, in order.
    public let headerLines: [String]
    /// The body.
    public internal(set) var body: [UInt8]

    /// Returns the values of the header fields with a name, given in lower case.
    public func values(of name: String) -> [String] {
        headerLines.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { return nil }
            return String(parts[1].drop { $0 == " " })
        }
    }
}

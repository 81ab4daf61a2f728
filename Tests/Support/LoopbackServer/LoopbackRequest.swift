/// A request as a ``LoopbackServer`` read it.
public struct LoopbackRequest: Hashable, Sendable {
    /// The method.
    public let method: String
    /// The path, and the query with it.
    public let target: String
    /// The lines of the header fields, in their order.
    public let headerLines: [String]
    /// The body.
    public internal(set) var body: [UInt8]

    /// The values of the fields of a name, which is given in lower case.
    public func values(of name: String) -> [String] {
        headerLines.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { return nil }
            return String(parts[1].drop { $0 == " " })
        }
    }
}

public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A write as an ``Outbox`` has accepted it.
public struct OutboxEntry: Hashable, Sendable, CustomStringConvertible {
    /// Its place in the order in which writes were accepted. Of the entries that are pending no two of one subject have the
    /// same.
    public let sequence: Int
    /// What is to be done.
    public let write: OutboxWrite
    /// What the upstream knows repeats by: 128 random bits in hexadecimal digits. It is the same in each attempt, also in those
    /// of a later process, and no other entry has it.
    public let idempotencyKey: String
    /// When it was accepted, on a wall clock, to a thousandth of a second.
    public let acceptedAt: Date
    /// How often it was sent in vain so far, as far as that is known: a process that is killed does not count its last.
    public internal(set) var attempts: Int

    /// The write, and which one it is.
    public var description: String { "\(write), accepted as number \(sequence)" }
}

/// What is to be done at an upstream, as a repository hands it to an ``Outbox``.
///
/// It is kept in a store until it is done, so nothing in it may be secret: the credentials are added by the data fetcher when it
/// is sent.
public struct OutboxWrite: Hashable, Sendable, CustomStringConvertible {
    /// The name of whoever settles it, once the upstream has answered: the ``OutboxHandler/endpoint`` of a handler.
    public let endpoint: String
    /// What it changes. Writes of one subject are delivered one after the other, in the order they were accepted.
    public let subject: RecordKey
    /// How it is sent.
    public let method: DataRequest.Method
    /// Where it is sent to, relative to the upstream, such as `posts/7`.
    public let path: String
    /// What is sent, as JSON; `nil` if nothing is.
    public let body: [UInt8]?

    /// Makes a write.
    ///
    /// - Parameters:
    ///   - endpoint: The name of whoever settles it.
    ///   - subject: What it changes, such as `posts/7`. What has no identity yet is a subject of its own.
    ///   - method: How it is sent.
    ///   - path: Where it is sent to, relative to the upstream.
    ///   - body: What is sent, as JSON; `nil` if nothing is.
    public init(
        endpoint: String,
        subject: RecordKey,
        method: DataRequest.Method = .post,
        path: String,
        body: [UInt8]? = nil
    ) {
        self.endpoint = endpoint
        self.subject = subject
        self.method = method
        self.path = path
        self.body = body
    }

    /// How many bytes it takes up of the limits of an ``OutboxPolicy``.
    public var byteCount: Int {
        (body?.count ?? 0) + path.utf8.count + endpoint.utf8.count
            + subject.components.reduce(0) { $0 + $1.utf8.count }
    }

    /// What is done where, and to what: `POST posts for posts/7`.
    public var description: String { "\(method) \(path) for \(subject)" }
}

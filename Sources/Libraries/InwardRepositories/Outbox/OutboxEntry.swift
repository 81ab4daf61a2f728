public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A write that an ``Outbox`` has accepted.
public struct OutboxEntry: Hashable, Sendable, CustomStringConvertible {
    /// The position in the order of acceptance. It is unique among the pending entries of a subject.
    public let sequence: Int
    /// The accepted write.
    public let write: OutboxWrite
    /// The key by which the upstream recognizes repeats: 128 random bits in hexadecimal digits. It is unique, and is the same for
    /// every attempt, including those of a later process.
    public let idempotencyKey: String
    /// When the write was accepted, by the wall clock, in milliseconds.
    public let acceptedAt: Date
    /// The number of failed attempts so far. The last attempt of a process that was killed may not be counted.
    public internal(set) var attempts: Int

    /// The write and its sequence number.
    public var description: String { "\(write), accepted as number \(sequence)" }
}

/// A request to an upstream that a repository hands to an ``Outbox``.
///
///     let write = OutboxWrite(endpoint: "posts", subject: ["posts", "7"], method: .put, path: "posts/7", body: body)
///
/// A write is stored until it is done, so it must not contain secrets. The data fetcher adds the credentials when the write is
/// sent.
public struct OutboxWrite: Hashable, Sendable, CustomStringConvertible {
    /// The ``OutboxHandler/endpoint`` of the handler that settles the write.
    public let endpoint: String
    /// The resource that the write changes. Writes of one subject are delivered one at a time, in the order they were accepted.
    public let subject: RecordKey
    /// The HTTP method.
    public let method: DataRequest.Method
    /// The path, relative to the upstream, such as `posts/7`.
    public let path: String
    /// The JSON body; `nil` for none.
    public let body: [UInt8]?

    /// Creates a write.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the handler that settles the write.
    ///   - subject: The resource that the write changes, such as `posts/7`. A resource that has no identifier yet needs a unique
    ///     subject.
    ///   - method: The HTTP method.
    ///   - path: The path, relative to the upstream.
    ///   - body: The JSON body; `nil` for none.
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

    /// The number of bytes that count towards the limits of an ``OutboxPolicy``.
    public var byteCount: Int {
        (body?.count ?? 0) + path.utf8.count + endpoint.utf8.count
            + subject.components.reduce(0) { $0 + $1.utf8.count }
    }

    /// The method, the path and the subject: `POST posts for posts/7`.
    public var description: String { "\(method) \(path) for \(subject)" }
}

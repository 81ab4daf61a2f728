public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A write that an ``Outbox`` has accepted.
///
/// ```swift
/// func printPending(_ outbox: Outbox) {
///     for entry in outbox.pending {
///         print(entry.write.method, entry.write.path, entry.acceptedAt, entry.attempts)
///     }
/// }
/// ```
public struct OutboxEntry: Hashable, Sendable, CustomStringConvertible {
    /// The position in the order of acceptance. It is unique among the pending entries of a subject.
    public let sequence: Int
    /// The accepted write.
    public let write: OutboxWrite
    /// The key by which the upstream recognizes repeats: 128 random bits in hexadecimal digits. It is unique, and is the same
    /// for every attempt, including those of a later process.
    public let idempotencyKey: String
    /// When the write was accepted, by the wall clock, in milliseconds.
    public let acceptedAt: Date
    /// The number of failed attempts so far. The last attempt of a process that was killed may not be counted.
    public internal(set) var attempts: Int
    /// A number that no other pending entry of the outbox has, from which a ``Creation`` makes a pending identifier.
    let pendingNumber: Int

    /// Creates an entry. With `nil`, its pending number is its sequence number.
    init(
        sequence: Int,
        write: OutboxWrite,
        idempotencyKey: String,
        acceptedAt: Date,
        attempts: Int,
        pendingNumber: Int? = nil
    ) {
        self.sequence = sequence
        self.write = write
        self.idempotencyKey = idempotencyKey
        self.acceptedAt = acceptedAt
        self.attempts = attempts
        self.pendingNumber = pendingNumber ?? sequence
    }

    /// Returns this entry with another write of the same subject.
    public func revised(to write: OutboxWrite) -> OutboxEntry {
        OutboxEntry(
            sequence: sequence,
            write: write,
            idempotencyKey: idempotencyKey,
            acceptedAt: acceptedAt,
            attempts: attempts,
            pendingNumber: pendingNumber
        )
    }

    /// The write and its sequence number.
    public var description: String { "\(write), accepted as number \(sequence)" }

    /// The request, for errors: `PUT users/7`.
    var name: String { "\(write.method) \(write.path)" }

    /// Returns 128 random bits in hexadecimal digits, for an ``idempotencyKey``.
    static func randomKey(using generator: inout any RandomNumberGenerator & Sendable) -> String {
        (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }

    /// Returns the pending number of an entry whose sequence number others may have, too: 52 bits of its idempotency key. All
    /// instances compute the same one, and JavaScript can represent it.
    static func pendingNumber(of key: String) -> Int {
        Int(truncatingIfNeeded: UInt64(key.prefix(13), radix: 16) ?? 0)
    }

    /// Returns the request to an upstream.
    func request(to upstream: Upstream) -> DataRequest {
        var request = upstream.request(
            write.method,
            to: upstream.baseURL.appending(path: write.path),
            accept: write.isPatch ? JSONFormat.mediaType : write.contentType,
            body: write.body.map { (Data($0), write.contentType) }
        )
        request.headerFields[.idempotencyKey] =
            write.revision == 0 ? idempotencyKey : "\(idempotencyKey)-\(write.revision)"
        if case .entityTag(let tag) = write.version { request.headerFields[.ifMatch] = tag }
        // Only the outbox repeats the request. If a data fetcher did, an attempt that the outbox does not know of could be in
        // progress.
        request.isSentOnce = true
        return request
    }
}

/// A write for an upstream, which a repository passes to an ``Outbox``.
///
/// ```swift
/// import InwardFetching
///
/// let write = OutboxWrite(
///     endpoint: "receipts",
///     subject: ["receipts", "7"],
///     method: .put,
///     path: "comments/7/receipt",
///     body: Array(#"{"read": true}"#.utf8)
/// )
/// ```
///
/// The outbox stores a write until it is done, so the write must not contain secrets. The data fetcher adds the credentials
/// when it sends the write.
public struct OutboxWrite: Hashable, Sendable, CustomStringConvertible {
    /// The ``OutboxHandler/endpoint`` of the handler that settles the write.
    public let endpoint: String
    /// The resource that the write changes. Writes of one subject are delivered one at a time, in the order they were accepted.
    public let subject: RecordKey
    /// The HTTP method.
    public let method: DataRequest.Method
    /// The path, relative to the upstream, such as `posts/7`.
    public let path: String
    /// The body, or `nil` for none.
    public let body: [UInt8]?
    /// The media type of the body.
    public let contentType: String
    /// The identifier of the entity that the write changes, or `nil` for a creation, and for a change of an entity whose
    /// creation is still pending.
    public let entityID: String?
    /// The version of the resource that the write was made for. The outbox sends it as `If-Match`.
    public let version: Version
    /// How often a conflict has changed the write. Each revision has an idempotency key of its own.
    public let revision: Int

    /// The version of a resource that a write was made for.
    public enum Version: Hashable, Sendable {
        /// Any version.
        case any
        /// The version with a strong entity tag.
        case entityTag(String)
        /// The version that results from the previous write of the subject.
        case previousWrite
    }

    /// Creates a write.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the handler that settles the write.
    ///   - subject: The resource that the write changes, such as `posts/7`. A resource that has no identifier yet needs a
    ///     unique subject.
    ///   - method: The HTTP method.
    ///   - path: The path, relative to the upstream.
    ///   - body: The body, or `nil` for none.
    ///   - contentType: The media type of the body.
    ///   - entityID: The identifier of the entity that the write changes, or `nil` for a creation, and for a change of an
    ///     entity whose creation is still pending.
    ///   - version: The version of the resource that the write was made for.
    ///   - revision: How often a conflict has changed the write.
    public init(
        endpoint: String,
        subject: RecordKey,
        method: DataRequest.Method = .post,
        path: String,
        body: [UInt8]? = nil,
        contentType: String = "application/json",
        entityID: String? = nil,
        version: Version = .any,
        revision: Int = 0
    ) {
        self.endpoint = endpoint
        self.subject = subject
        self.method = method
        self.path = path
        self.body = body
        self.contentType = contentType
        self.entityID = entityID
        self.version = version
        self.revision = revision
    }

    /// Returns this write for another version of its resource.
    func made(for version: Version) -> OutboxWrite { copy(version: version) }

    /// Returns this write for an entity that has been created in the meantime, and for a version of it if one is known.
    func addressed(to id: String, _ path: String, _ version: Version?) -> OutboxWrite {
        copy(path: path, entityID: id, version: version ?? self.version)
    }

    /// Returns this write with a record in place of a patch.
    func recorded(_ body: Data, contentType: String) -> OutboxWrite {
        copy(body: Array(body), contentType: contentType, version: version)
    }

    /// Whether the body is a merge patch.
    var isPatch: Bool { contentType == MergePatch.mediaType }

    /// Returns the next revision of this write, for the version with an entity tag.
    func revised(for entityTag: String?, _ update: EditRequest? = nil) -> OutboxWrite {
        copy(
            method: update?.method ?? method,
            body: update.map { $0.body.map { Array($0) } } ?? body,
            contentType: update?.contentType ?? contentType,
            version: entityTag.map { .entityTag($0) } ?? .any,
            revision: revision + 1
        )
    }

    private func copy(
        method: DataRequest.Method? = nil,
        path: String? = nil,
        body: [UInt8]?? = nil,
        contentType: String? = nil,
        entityID: String? = nil,
        version: Version,
        revision: Int? = nil
    ) -> OutboxWrite {
        OutboxWrite(
            endpoint: endpoint,
            subject: subject,
            method: method ?? self.method,
            path: path ?? self.path,
            body: body ?? self.body,
            contentType: contentType ?? self.contentType,
            entityID: entityID ?? self.entityID,
            version: version,
            revision: revision ?? self.revision
        )
    }

    /// The number of bytes that count toward the limits of an ``OutboxPolicy``.
    public var byteCount: Int {
        (body?.count ?? 0) + path.utf8.count + endpoint.utf8.count
            + subject.components.reduce(0) { $0 + $1.utf8.count }
    }

    /// The method, the path and the subject: `POST posts for posts/7`.
    public var description: String { "\(method) \(path) for \(subject)" }
}

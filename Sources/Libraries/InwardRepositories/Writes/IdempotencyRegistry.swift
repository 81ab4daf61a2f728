public import InwardCore
public import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The responses to requests with an `Idempotency-Key`, so that a client can repeat a request whose response it did not receive.
///
/// ```swift
/// let registry = IdempotencyRegistry(store: InMemoryRecordStore(), now: { Date() })
/// let key = try IdempotencyKey("8e03978e-40d5-43dd-bc93-6894a57f9324")
/// let body = Array(#"{"postId": 1, "body": "Well said."}"#.utf8)
/// let response = try await registry.response(to: key, of: "ada", fingerprint: body) {
///     let created = try await comments.create(CommentDraft(postId: 1, body: "Well said."))
///     return Array("comment \(created.value.id)".utf8)
/// }
/// print(response.isRepeated)  // false, and true for each later request with the key
/// ```
///
/// The registry follows draft 7 of *The Idempotency-Key HTTP Header Field*. It records in the store that a request begins, before the
/// work of the request, and the response after it. Several instances of a service can share the store.
///
/// - A repeated request gets the first response.
/// - While the first request is being processed, the others fail with ``IdempotencyError/inProgress``.
/// - If a process dies between the two records, nobody knows whether the work was done. Later requests then fail with
///   ``IdempotencyError/outcomeUnknown``, and nothing is done twice.
/// - If the work fails, the key is free again, unless the outcome of the failure is unknown.
public struct IdempotencyRegistry: Sendable {
    /// The period before which this registry has removed all records.
    private final class FirstPeriod: Sendable {
        private let number = Mutex(Int.min)

        /// Returns whether the period has become later.
        func advance(to period: Int) -> Bool {
            number.withLock { number in
                guard period > number else { return false }
                number = period
                return true
            }
        }

        func forget() { number.withLock { $0 = .min } }
    }

    private let firstPeriod = FirstPeriod()
    private let store: any SharedRecordStore
    private let prefix: RecordKey
    private let lifetime: Duration
    private let requestLimit: Duration
    private let now: @Sendable () -> Date
    private let errorHandler: any ErrorHandler

    /// Creates a registry.
    ///
    /// - Parameters:
    ///   - store: The store of the records.
    ///   - prefix: The prefix of the keys of the records.
    ///   - lifetime: How long responses are kept at least. A later request removes those that are older than twice that time. The
    ///     default is a day.
    ///   - requestLimit: The time within which every request ends. After that, a request without a response counts as lost.
    ///   - now: Returns the current date.
    ///   - errorHandler: Receives the error if a response cannot be recorded.
    public init(
        store: any SharedRecordStore,
        prefix: RecordKey = ["idempotency"],
        lifetime: Duration = .seconds(86_400),
        requestLimit: Duration = .seconds(60),
        now: @escaping @Sendable () -> Date,
        errorHandler: any ErrorHandler = IgnoringErrorHandler()
    ) {
        self.store = store
        self.prefix = prefix
        self.lifetime = max(lifetime, .seconds(1))
        self.requestLimit = requestLimit
        self.now = now
        self.errorHandler = errorHandler
    }

    /// Returns the first response to requests with a key, and runs the work if this is the first request.
    ///
    /// - Parameters:
    ///   - key: The key of the request.
    ///   - client: The identity of the client, whose keys are separate from those of other clients.
    ///   - fingerprint: The method, the path and the body of the request, or a cryptographic digest of them. All requests with a
    ///     key must have the same.
    ///   - work: Makes the response. It must not run longer than the registry's limit for requests.
    /// - Returns: The response, and whether it is that of an earlier request.
    /// - Throws: An ``IdempotencyError``; a ``RecordStoreError`` if the store cannot tell whether there was an earlier request; the
    ///   error of the work. With the first two, the work has not begun.
    public func response(
        to key: IdempotencyKey,
        of client: String,
        fingerprint: [UInt8],
        making work: () async throws -> [UInt8]
    ) async throws -> (bytes: [UInt8], isRepeated: Bool) {
        let period = Int((now().timeIntervalSince1970 / (lifetime / .seconds(1))).rounded(.down))
        // The clock of another instance may be in the next period already.
        let records = [period, period - 1, period + 1].map { recordKey(key, of: client, in: $0) }
        // First, because the store may have no room otherwise.
        await removeOld(before: period - 1)
        if let response = try await begin(records, fingerprint) { return (response, true) }
        let response: [UInt8]
        do {
            response = try await work()
        } catch {
            let isUnknown =
                error is CancellationError || ProblemDetails(error).status == ProblemDetails.outcomeUnknown.status
            let lost = IdempotencyRecord(fingerprint, at: now(), nil, isLost: true).stored
            await finish([isUnknown ? .keep(lost, records[0]) : .remove(records[0])])
            throw error
        }
        await finish([.keep(IdempotencyRecord(fingerprint, at: now(), response).stored, records[0])])
        return (response, false)
    }

    private func recordKey(_ key: IdempotencyKey, of client: String, in period: Int) -> RecordKey {
        RecordKey(prefix.components + [String(period), client, key.description])
    }

    /// Records under the first key that a request begins. Returns the response if there was an earlier request, under any key.
    private func begin(_ records: [RecordKey], _ fingerprint: [UInt8]) async throws -> [UInt8]? {
        let first = IdempotencyRecord(fingerprint, at: now(), nil).stored
        do throws(RecordStoreError) {
            try await store.commit([.keep(first, records[0])], if: records.map { .isAbsent($0) })
        } catch {
            guard error.reason == .conflict else { throw error }
            let found = try await store.records(for: records).lazy.compactMap(\.self).first
            guard let found else { throw IdempotencyError.inProgress }
            guard let found = IdempotencyRecord(found.bytes) else { throw IdempotencyError.outcomeUnknown }
            return try response(of: found, to: fingerprint)
        }
        return nil
    }

    private func response(
        of record: IdempotencyRecord,
        to fingerprint: [UInt8]
    ) throws(IdempotencyError) -> [UInt8] {
        guard record.fingerprint == Data(fingerprint) else { throw .differentRequest }
        if let response = record.response { return [UInt8](response) }
        // The clock of the instance that began the request may be ahead.
        let age = now().timeIntervalSince(record.date)
        throw record.isLost != true && age < requestLimit / .seconds(1) ? .inProgress : .outcomeUnknown
    }

    /// Removes the records of old periods, once for each period.
    private func removeOld(before period: Int) async {
        guard firstPeriod.advance(to: period) else { return }
        do throws(RecordStoreError) {
            while let oldest = try await store.records(under: prefix, after: nil, limit: 1).first?.key {
                let components = oldest.components.prefix(prefix.components.count + 1)
                guard let number = components.last.flatMap({ Int($0) }), number < period else { return }
                try await store.commit([.removeAll(RecordKey(Array(components)))])
            }
        } catch {
            firstPeriod.forget()
            errorHandler.handle(error)
        }
    }

    /// Records the end of a request, even if its task was cancelled in the meantime.
    private func finish(_ changes: [RecordChange]) async {
        // Unstructured, because a cancelled task cannot change the store. The work is done, and its response must not be lost. The
        // task ends with the commit, for which this method waits.
        let committed = await Deadline.lifted {
            Task { [store] () async -> Result<Void, RecordStoreError> in
                await Result(awaiting: { () async throws(RecordStoreError) in try await store.commit(changes) })
            }
        }.value
        if case .failure(let error) = committed { errorHandler.handle(error) }
    }
}

/// The value of the header field `Idempotency-Key`, which names a request that a client may repeat.
///
/// ```swift
/// let key = try IdempotencyKey("\"8e03978e-40d5-43dd-bc93-6894a57f9324\"")
/// print(key)  // 8e03978e-40d5-43dd-bc93-6894a57f9324
/// ```
public struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// The key without quotation marks.
    public let description: String

    /// Reads a key.
    ///
    /// - Parameter value: The value of the field: 1 to 255 printable ASCII characters except `"` and `\`, with or without quotation
    ///   marks around them.
    /// - Throws: ``IdempotencyError/invalidKey`` for any other value.
    public init(_ value: String) throws(IdempotencyError) {
        var bytes = value.utf8[...]
        if bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") {
            bytes = bytes.dropFirst().dropLast()
        }
        guard (1...255).contains(bytes.count),
            bytes.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        else { throw .invalidKey }
        description = String(Substring(bytes))
    }
}

/// An error of a request with an `Idempotency-Key`. Nothing was done for this request, but perhaps for an earlier one.
///
/// ```swift
/// do {
///     _ = try IdempotencyKey("")
/// } catch {
///     print(error.problemDetails.detail)
/// }
/// ```
public enum IdempotencyError: Error, Hashable, Sendable, ProblemDetailsConvertible {
    /// The value of the field is not a key.
    case invalidKey
    /// An earlier request with the key is still being processed.
    case inProgress
    /// An earlier request with the key was another one.
    case differentRequest
    /// An earlier request with the key began, and nobody knows whether it was done.
    case outcomeUnknown

    /// The response with which a server reports the error: 400, 409, 422 or 504.
    public var problemDetails: ProblemDetails {
        switch self {
        case .invalidKey:
            ProblemDetails(
                400,
                detail:
                    "The field Idempotency-Key must have from 1 to 255 printable ASCII characters, without quotation marks "
                    + "and backslashes inside."
            )
        case .inProgress:
            ProblemDetails(
                409,
                detail: "An earlier request with this Idempotency-Key is still being processed. Try again later.",
                retryAfter: .seconds(1)
            )
        case .differentRequest:
            ProblemDetails(
                422,
                detail: "An earlier request with this Idempotency-Key was another one. Use a new key for a new request."
            )
        case .outcomeUnknown: .outcomeUnknown
        }
    }
}

/// What is known about the first request with a key.
struct IdempotencyRecord: Codable {
    let fingerprint: Data
    /// When the request began, or was answered.
    let date: Date
    /// The response; `nil` if there is none yet, or none at all.
    let response: Data?
    /// Whether the request has ended without a response; `nil` counts as `false`.
    let isLost: Bool?

    init(_ fingerprint: [UInt8], at date: Date, _ response: [UInt8]?, isLost: Bool? = nil) {
        (self.fingerprint, self.date, self.response) = (Data(fingerprint), date, response.map { Data($0) })
        self.isLost = isLost
    }

    /// Reads a record; `nil` if the bytes are damaged.
    init?(_ bytes: [UInt8]) {
        guard let record = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
        self = record
    }

    /// The record, which cannot be read again if the date is not finite. Then the outcome of the request is unknown.
    var stored: StoredRecord { StoredRecord((try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? []) }
}

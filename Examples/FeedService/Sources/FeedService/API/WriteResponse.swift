import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardFetching
import InwardRepositories
import NIOCore

/// The response to a request that changes something. It can be stored, so that a repeated request gets it again.
struct WriteResponse: Codable, Sendable {
    private let status: Int
    private let location: String?
    private let entityTag: String?
    private let body: Data?

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - location: The path of what was created.
    ///   - entityTag: The version of what was written.
    ///   - body: What was written; `nil` for a response without content.
    /// - Throws: An `EncodingError`, if JSON cannot represent a number in the body.
    init(
        _ status: HTTPResponse.Status,
        location: String? = nil,
        entityTag: EntityTag? = nil,
        body: (any Encodable)? = nil
    ) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.status = status.code
        self.location = location
        self.entityTag = entityTag?.description
        self.body = try body.map { try encoder.encode($0) }
    }

    /// Returns the response to send.
    ///
    /// - Parameter isRepeated: Whether it was sent before.
    /// - Returns: The response.
    func response(isRepeated: Bool) -> Response {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        fields[.location] = location
        fields[.eTag] = entityTag
        if body != nil { fields[.contentType] = "application/json; charset=utf-8" }
        if isRepeated { fields[.idempotencyReplayed] = "true" }
        return Response(
            status: HTTPResponse.Status(code: status),
            headers: fields,
            body: body.map { ResponseBody(byteBuffer: ByteBuffer(bytes: $0)) } ?? ResponseBody()
        )
    }
}

extension FeedApp {
    /// Returns the response to a deletion: that it is done, or that it is pending.
    ///
    /// - Parameter id: The identity that the request names.
    /// - Returns: The response.
    /// - Throws: An `EncodingError`, as for other responses.
    func deletionResponse(_ id: Int) throws -> WriteResponse {
        guard keepsWrites else { return try WriteResponse(.noContent) }
        return try WriteResponse(.accepted, body: DeletionBody(id: id))
    }

    /// Answers a request that changes something, once if it has an `Idempotency-Key`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - content: The content of the request.
    ///   - visitor: The sender, whose keys are separate from those of other visitors.
    ///   - write: Makes the change.
    /// - Returns: The response, or that of the first request with the key.
    /// - Throws: An `IdempotencyError`, a `RecordStoreError`, or the error of the change.
    func answer(
        _ request: Request,
        _ content: RequestContent,
        of visitor: Visitor,
        writing write: () async throws -> WriteResponse
    ) async throws -> Response {
        let keys = request.headers[values: .idempotencyKey]
        guard let value = keys.first else { return try await write().response(isRepeated: false) }
        guard keys.count == 1 else { throw IdempotencyError.invalidKey }
        var digest = SHA256()
        for part in [request.method.rawValue, request.uri.string, request.headers[.ifMatch] ?? ""] {
            digest.update(data: Data("\(part)\n".utf8))
        }
        digest.update(data: content.bytes)
        let first = try await idempotency.response(
            to: IdempotencyKey(value),
            of: visitor.name,
            fingerprint: Array(digest.finalize())
        ) {
            Array(try JSONEncoder().encode(try await write()))
        }
        let response = try JSONDecoder().decode(WriteResponse.self, from: Data(first.bytes))
        return response.response(isRepeated: first.isRepeated)
    }
}

extension HTTPField.Name {
    /// `Idempotency-Key`, which names a request that the client may repeat.
    // swift-format-ignore: NeverForceUnwrap
    // The text is a valid name.
    static let idempotencyKey = Self("Idempotency-Key")!

    /// `Idempotent-Replayed`, which marks the response to a repeated request.
    // swift-format-ignore: NeverForceUnwrap
    // The text is a valid name.
    static let idempotencyReplayed = Self("Idempotent-Replayed")!
}

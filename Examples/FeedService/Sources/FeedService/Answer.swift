import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardFetching
import NIOCore

/// An encoded representation, with its entity tag.
struct Answer: Sendable {
    private let bytes: ByteBuffer
    private let entityTag: EntityTag
    /// The media type, and what else depends on the kind of representation.
    private let fields: HTTPFields

    /// Encodes a body as JSON.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - entityTag: The entity tag; `nil` for one that is made of the encoded bytes.
    /// - Throws: An `EncodingError`, if JSON cannot represent a number in the body.
    init(json body: some Encodable, entityTag: EntityTag? = nil) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(try encoder.encode(body), [.contentType: "application/json; charset=utf-8"], entityTag)
    }

    /// Encodes a page as HTML.
    init(_ page: Page) {
        self.init(
            Data(page.document.markup.utf8),
            [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Page.policy]
        )
    }

    /// Takes a file as it is.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - mediaType: The media type.
    init(file bytes: [UInt8], as mediaType: String) {
        self.init(Data(bytes), [.contentType: mediaType])
    }

    private init(_ bytes: Data, _ fields: HTTPFields, _ entityTag: EntityTag? = nil) {
        self.bytes = ByteBuffer(bytes: bytes)
        self.fields = fields
        self.entityTag = entityTag ?? EntityTag(digest: SHA256.hash(data: bytes).prefix(16))
    }

    /// How caches may use the files of the service, which change only with its version.
    static let fileCacheControl = "public, max-age=3600"

    /// The size in bytes.
    var size: Int { bytes.readableBytes }

    /// Returns the response, which is empty if the client already has this representation.
    ///
    /// - Parameters:
    ///   - request: The request, with the tags that the client has.
    ///   - cacheControl: How caches may use the response.
    /// - Returns: The response, with the status 200 or 304.
    func response(to request: Request, cacheControl: String) -> Response {
        var fields = fields
        fields[.eTag] = entityTag.description
        fields[.cacheControl] = cacheControl
        if entityTag.matches(ifNoneMatch: request.headers[values: .ifNoneMatch]) {
            fields[.contentType] = nil
            return Response(status: .notModified, headers: fields)
        }
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: bytes))
    }
}

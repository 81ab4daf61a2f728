import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The encoding of an upstream's requests and responses.
///
/// ```swift
/// struct PropertyListFormat: RecordFormat {
///     let mediaType = "application/x-plist"
///
///     func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
///         try PropertyListDecoder().decode(type, from: bytes)
///     }
///
///     func encode(_ value: some Encodable) throws -> Data { try PropertyListEncoder().encode(value) }
/// }
/// ```
///
/// For JSON with special dates or names, use ``JSONFormat`` instead of a format of your own.
public protocol RecordFormat: Sendable {
    /// The media type that requests name in `Accept` and `Content-Type`, such as `application/json`.
    var mediaType: String { get }

    /// Decodes a complete body.
    ///
    /// - Throws: a `DecodingError`, or any other error if the bytes are not in this format.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value

    /// Encodes a value as a complete body.
    func encode(_ value: some Encodable) throws -> Data
}

extension RecordFormat {
    /// The name of the format in messages.
    private var name: String { mediaType == JSONFormat.mediaType ? "JSON" : mediaType }

    /// Decodes a complete body.
    ///
    /// - Throws: a ``FieldError`` that names the field, or quotes the beginning of the text if the text is not in this format.
    func decoded<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws(FieldError) -> Value {
        do {
            return try decode(type, from: bytes)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            guard !bytes.isEmpty else { throw FieldError(nil, "is empty") }
            let beginning = String(decoding: bytes.prefix(80), as: UTF8.self).excerpt(upTo: 40)
            throw FieldError(nil, "is not valid \(name); it begins with “\(beginning)”")
        } catch {
            throw FieldError(decoding: error)
        }
    }
}

/// JSON (RFC 8259).
///
/// ```swift
/// let comments = Endpoint(CommentDTO.self, at: "comments", format: JSONFormat())  // The default.
/// ```
///
/// Without a decoder of yours, it decodes what `JSONDecoder` does with its default strategies, lists of records in half the time, and its
/// errors name the field if a number does not fit or a string is not valid Unicode. For other dates and names, pass a decoder and an
/// encoder:
///
/// ```swift
/// let format = JSONFormat {
///     let decoder = JSONDecoder()
///     decoder.keyDecodingStrategy = .convertFromSnakeCase
///     decoder.dateDecodingStrategy = .iso8601
///     return decoder
/// } encoder: {
///     let encoder = JSONEncoder()
///     encoder.keyEncodingStrategy = .convertToSnakeCase
///     encoder.dateEncodingStrategy = .iso8601
///     return encoder
/// }
/// let endpoint = Endpoint(CommentDTO.self, at: "comments", format: format)
/// ```
///
/// The decoder must be able to decode what the encoder writes, because stores keep entities in this format.
public struct JSONFormat: RecordFormat {
    static let mediaType = "application/json"

    private let decoder: (@Sendable () -> JSONDecoder)?
    private let encoder: @Sendable () -> JSONEncoder

    /// Creates a format from a decoder and an encoder.
    ///
    /// - Parameters:
    ///   - decoder: Creates the decoder for a body. `nil` selects the faster one of this library.
    ///   - encoder: Creates the encoder for a body.
    public init(
        decoder: (@Sendable () -> JSONDecoder)? = nil,
        encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() }
    ) {
        self.decoder = decoder
        self.encoder = encoder
    }

    /// `application/json`.
    public var mediaType: String { Self.mediaType }

    /// Decodes a JSON text.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        guard let decoder else { return try JSONRecordDecoder.decode(type, from: bytes) }
        return try decoder().decode(type, from: bytes)
    }

    /// Encodes a value as a JSON text.
    public func encode(_ value: some Encodable) throws -> Data { try encoder().encode(value) }
}

/// The place of the records in a response that wraps them in another value.
///
/// ```swift
/// // {"data": {"items": [{"id": 1, "postId": 7, "body": "Well said."}]}, "next": "/comments?page=2"}
/// struct CommentPage: Decodable {
///     struct Content: Decodable { let items: RecordList<CommentDTO> }
///     let data: Content
///     let next: String?
/// }
///
/// let endpoint = Endpoint(
///     CommentDTO.self,
///     at: "comments",
///     listIn: Envelope(CommentPage.self) { $0.data.items },
///     paging: .links { response in try? JSONDecoder().decode(CommentPage.self, from: response.body).next }
/// )
/// ```
public struct Envelope<Content: Decodable & SendableMetatype>: Sendable {
    let open: @Sendable (any RecordFormat, Data) throws(FieldError) -> Content

    /// Creates an envelope.
    ///
    /// - Parameters:
    ///   - body: The type of the complete response body.
    ///   - content: Returns the record or the list of records in a body.
    public init<Body: Decodable & SendableMetatype>(
        _ body: Body.Type,
        _ content: @escaping @Sendable (Body) -> Content
    ) {
        open = { format, bytes throws(FieldError) in content(try format.decoded(body, from: bytes)) }
    }

    /// No envelope. The response body is the record or the list of records itself.
    public static var none: Self { Self(Content.self) { $0 } }
}

extension Decodable {
    /// Decodes a complete JSON text.
    ///
    /// - Throws: a ``FieldError`` that names the field, or quotes the beginning of the text if the text is not valid JSON.
    package static func decoded(from json: Data) throws(FieldError) -> Self {
        try JSONFormat().decoded(Self.self, from: json)
    }
}

import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The format in which an upstream encodes records: JSON, or another one.
///
///     struct PropertyListFormat: RecordFormat {
///         let mediaType = "application/x-plist"
///
///         func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
///             try PropertyListDecoder().decode(type, from: bytes)
///         }
///
///         func encode(_ value: some Encodable) throws -> Data { try PropertyListEncoder().encode(value) }
///     }
///
/// Use ``JSONFormat`` for JSON with other dates or names than the standard ones.
public protocol RecordFormat: Sendable {
    /// The media type that requests ask for in `Accept`, such as `application/json`.
    var mediaType: String { get }

    /// Decodes a complete body.
    ///
    /// - Throws: a `DecodingError`, or any other error if the bytes are not in this format.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value

    /// Encodes a value as a complete body.
    func encode(_ value: some Encodable) throws -> Data
}

extension RecordFormat {
    /// The media type in a message, or the usual name of JSON.
    private var name: String { mediaType == JSONFormat.mediaType ? "JSON" : mediaType }

    /// Decodes a complete body.
    ///
    /// - Throws: a ``FieldError`` that names the field, or quotes the beginning of the text if it is not in this format.
    func decoded<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws(FieldError) -> Value {
        do {
            return try decode(type, from: bytes)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            guard !bytes.isEmpty else { throw FieldError(nil, "is empty") }
            let beginning = String(decoding: bytes.prefix(80), as: UTF8.self).excerpt(upTo: 40)
            throw FieldError(nil, "is no valid \(name); it begins with “\(beginning)”")
        } catch {
            throw FieldError(decoding: error)
        }
    }
}

/// JSON (RFC 8259), with the coders of Foundation.
///
///     let format = JSONFormat {
///         let decoder = JSONDecoder()
///         decoder.keyDecodingStrategy = .convertFromSnakeCase
///         decoder.dateDecodingStrategy = .iso8601
///         return decoder
///     } encoder: {
///         let encoder = JSONEncoder()
///         encoder.keyEncodingStrategy = .convertToSnakeCase
///         encoder.dateEncodingStrategy = .iso8601
///         return encoder
///     }
///     let comments = Endpoint(CommentDTO.self, at: "comments", format: format)
///
/// The decoder must read what the encoder writes: a store keeps entities in this format.
public struct JSONFormat: RecordFormat {
    static let mediaType = "application/json"

    private let decoder: @Sendable () -> JSONDecoder
    private let encoder: @Sendable () -> JSONEncoder

    /// Creates a format from coders.
    ///
    /// - Parameters:
    ///   - decoder: Creates the decoder of a body.
    ///   - encoder: Creates the encoder of a body.
    public init(
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() },
        encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() }
    ) {
        self.decoder = decoder
        self.encoder = encoder
    }

    /// `application/json`.
    public var mediaType: String { Self.mediaType }

    /// Decodes a JSON text.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        try decoder().decode(type, from: bytes)
    }

    /// Encodes a value as a JSON text.
    public func encode(_ value: some Encodable) throws -> Data { try encoder().encode(value) }
}

/// The place of a record, or of a list of records, in a response that contains more.
///
///     struct CommentPage: Decodable {
///         struct Content: Decodable { let items: RecordList<CommentDTO> }
///         let data: Content
///         let next: String?
///     }
///
///     let comments = Endpoint(
///         CommentDTO.self,
///         at: "comments",
///         listIn: Envelope(CommentPage.self) { $0.data.items },
///         paging: .links { response in try? JSONDecoder().decode(CommentPage.self, from: response.body).next }
///     )
public struct Envelope<Content: Decodable & SendableMetatype>: Sendable {
    let open: @Sendable (any RecordFormat, Data) throws(FieldError) -> Content

    /// Creates an envelope.
    ///
    /// - Parameters:
    ///   - body: The type of the whole response.
    ///   - content: Returns its part that is wanted.
    public init<Body: Decodable & SendableMetatype>(
        _ body: Body.Type,
        _ content: @escaping @Sendable (Body) -> Content
    ) {
        open = { format, bytes throws(FieldError) in content(try format.decoded(body, from: bytes)) }
    }

    /// No envelope: the response is the content.
    public static var none: Self { Self(Content.self) { $0 } }
}

extension Decodable {
    /// Decodes a complete JSON text.
    ///
    /// - Throws: a ``FieldError`` that quotes the beginning of the text if it is not valid JSON.
    package static func decoded(from json: Data) throws(FieldError) -> Self {
        try JSONFormat().decoded(Self.self, from: json)
    }
}

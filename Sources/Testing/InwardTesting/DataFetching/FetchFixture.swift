public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A prescribed answer to a request, for ``RoutedDataFetcher`` and ``ScriptedDataFetcher``.
///
///     let found: FetchFixture = .json(#"{"id": 7, "body": "Well said."}"#)
///     let encoded: FetchFixture = try .encoding(comment, headerFields: [HeaderField(.etag, "\"1\"")])
///     let missing: FetchFixture = .status(.notFound)
///     let lost: FetchFixture = .failure(.timedOut)
public enum FetchFixture: Hashable, Sendable {
    /// The request gets this response.
    case answer(DataResponse)
    /// The request fails for this reason.
    case failure(FetchError.Reason)

    /// Returns a response with JSON text as its body. Its media type is `application/json` unless the header fields name another.
    public static func json(
        _ text: String,
        status: DataResponse.Status = .ok,
        headerFields: HeaderFields = []
    ) -> Self {
        json(Data(text.utf8), status, headerFields)
    }

    /// Returns a response with a value as its body, encoded as JSON. Its media type is `application/json` unless the header fields
    /// name another.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - encoder: The encoder, which determines the format of dates and keys.
    ///   - status: The status of the response.
    ///   - headerFields: The header fields of the response.
    /// - Returns: The response.
    /// - Throws: The error of the encoder if the value cannot be encoded.
    public static func encoding(
        _ value: some Encodable,
        by encoder: JSONEncoder = JSONEncoder(),
        status: DataResponse.Status = .ok,
        headerFields: HeaderFields = []
    ) throws -> Self {
        json(try encoder.encode(value), status, headerFields)
    }

    /// Returns a response with a status and no body.
    public static func status(_ status: DataResponse.Status, headerFields: HeaderFields = []) -> Self {
        .answer(DataResponse(status: status, headerFields: headerFields))
    }

    private static func json(_ body: Data, _ status: DataResponse.Status, _ headerFields: HeaderFields) -> Self {
        var response = DataResponse(status: status, headerFields: headerFields, body: body)
        if response.headerFields[.contentType] == nil { response.headerFields[.contentType] = "application/json" }
        return .answer(response)
    }

    /// Returns the response to a request.
    ///
    /// - Throws: A `FetchError` if this is a failure, with an explanation that ends a sentence which begins with the request.
    func response(to request: DataRequest, failing explanation: String) throws(FetchError) -> DataResponse {
        switch self {
        case .answer(let response): return response
        case .failure(let reason): throw FetchError(reason, request: request, explanation: explanation)
        }
    }
}

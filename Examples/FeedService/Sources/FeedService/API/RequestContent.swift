import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardCore
import InwardFetching
import NIOCore

/// The content of a request that changes something.
struct RequestContent: Sendable {
    /// A post of the greatest size in JSON, with every character escaped.
    private static let maximumSize = 512 * 1_024

    /// The bytes.
    let bytes: [UInt8]

    /// Reads the content of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - types: The media types that the route accepts; empty if it ignores the content.
    ///   - deadline: When the content must have arrived.
    /// - Throws: A `ProblemDetails` with the status 400, 408, 413 or 415.
    init(_ request: Request, as types: [String], by deadline: Deadline) async throws {
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased().trimmingCharacters(in: .whitespaces)
        if !types.isEmpty, !types.contains(type ?? "") {
            throw ProblemDetails(415, detail: "The content must be \(types.joined(separator: " or ")).")
        }
        let body = request.body
        let received = await deadline.bound { () async throws in
            Array(try await body.collect(upTo: Self.maximumSize).readableBytesView)
        }
        guard let received else {
            throw ProblemDetails(408, detail: "The content did not arrive in time. Send the request again.")
        }
        do {
            bytes = try received.get()
        } catch is NIOTooManyBytesError {
            throw ProblemDetails(413, detail: "The content must have at most \(Self.maximumSize) bytes.")
        } catch {
            throw ProblemDetails(400, detail: "The content did not arrive completely.")
        }
    }

    /// Decodes the content as JSON.
    ///
    /// - Throws: A `ProblemDetails` with the status 400 if it cannot be read, or 422 if a member is missing or has another type.
    func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(ProblemDetails) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch DecodingError.keyNotFound(let key, let context) {
            throw ProblemDetails(422, detail: "The member “\(Self.name(context.codingPath + [key]))” is missing.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let name = Self.name(context.codingPath)
            let subject = name.isEmpty ? "The content" : "The member “\(name)”"
            throw ProblemDetails(422, detail: "\(subject) has the wrong type. See the description of the API.")
        } catch {
            let content = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            // Text such as `1e400` and `"\ud800"` is JSON as well.
            throw content == nil
                ? ProblemDetails(
                    400,
                    detail: "The content cannot be read. It must be JSON in UTF-8, with valid numbers and characters."
                )
                : ProblemDetails(422, detail: "A number in the content is not a whole number, or is out of range.")
        }
    }

    private static func name(_ path: [any CodingKey]) -> String {
        // The names come from the service's own types.
        path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}

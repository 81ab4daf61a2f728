import InwardCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Decodable {
    /// Decodes a whole JSON text.
    ///
    /// - Throws: a ``FieldError`` that says how the text begins if it is no JSON at all.
    package static func decoded(from json: Data) throws(FieldError) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: json)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            guard !json.isEmpty else { throw FieldError(nil, "is empty") }
            let beginning = String(decoding: json.prefix(80), as: UTF8.self).excerpt(upTo: 40)
            throw FieldError(nil, "is no valid JSON; it begins with “\(beginning)”")
        } catch {
            throw FieldError(decoding: error)
        }
    }
}

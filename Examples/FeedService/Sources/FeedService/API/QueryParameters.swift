import Foundation
import InwardFetching

/// The parameters of a query, decoded as those of a form: `+` is a space.
struct QueryParameters {
    /// What has the parameters, for errors.
    enum Origin: String {
        case query, form
    }

    private var values: [String: String] = [:]

    /// Reads a query, or a form.
    ///
    /// - Parameters:
    ///   - query: The query without `?`, or the content of the form; `nil` for none.
    ///   - origin: What has the parameters.
    /// - Throws: A `ProblemDetails` with the status 400 if a parameter is repeated, or is not encoded correctly.
    init(_ query: String?, of origin: Origin = .query) throws(ProblemDetails) {
        for pair in query?.split(separator: "&") ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw ProblemDetails(400, detail: "The \(origin) must be encoded as UTF-8, with “%25” for “%”.")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw ProblemDetails(400, detail: "The parameter “\(name)” must not be repeated.")
            }
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }

    /// Returns the value of a parameter; `nil` if it is missing.
    ///
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - form: What the value must be, for the error.
    ///   - read: Reads the value. Returns `nil` if it is not valid.
    /// - Returns: The value.
    /// - Throws: A `ProblemDetails` with the status 400 if the value is not valid.
    func value<Value>(
        _ name: String,
        as form: String,
        _ read: (String) -> Value?
    ) throws(ProblemDetails) -> Value? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else {
            throw ProblemDetails(400, detail: "The parameter “\(name)” must be \(form).")
        }
        return value
    }
}

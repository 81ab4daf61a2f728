#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// Returns a text without the secrets of this request: the values of sensitive header fields and their parts, and the
    /// parts of the URL that the description omits.
    func removingSecrets(from text: String) -> String {
        // Longest first, so that no remainder is left of a secret that contains another. Strings of fewer than four
        // characters are not treated as secrets, because removing them would break up words.
        (secretsOfHeaderFields + secretsOfAddress).filter { $0.count >= 4 }.sorted { $0.count > $1.count }
            .reduce(text) { text, secret in text.replacing(secret, with: "…") }
    }

    private var secretsOfHeaderFields: [String] {
        headerFields.filter(\.isSensitive).flatMap { field -> [String] in
            let parts = field.value.split(whereSeparator: " ;,\"".contains)
            // A scheme such as `Bearer` precedes the credential itself.
            let credentials = field.name == .authorization && parts.count > 1 ? parts.dropFirst() : parts[...]
            let values = credentials.map { $0.drop { $0 != "=" }.dropFirst() }
            return [field.value] + (credentials + values).map(String.init)
        }
    }

    private var secretsOfAddress: [String] {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return [] }
        let user = components.percentEncodedUser.map { user in
            components.percentEncodedPassword.map { "\(user):\($0)@" } ?? "\(user)@"
        }
        let single = [
            user, components.percentEncodedPassword, components.password, components.percentEncodedQuery,
            components.percentEncodedFragment, components.fragment,
        ]
        let values = (components.percentEncodedQueryItems ?? []) + (components.queryItems ?? [])
        return single.compactMap(\.self) + values.compactMap(\.value)
    }
}

extension URL {
    /// The URL for display: without user name, password and fragment, and with only the names of query items, because keys
    /// and signatures travel as values. URLs above the length limit of requests are shortened.
    var withoutSecrets: String {
        let whole = wholeWithoutSecrets
        guard whole.utf8.count > DataRequest.maximumAddressBytes else { return whole }
        return whole.prefix(Self.shortenedLength) + "…"
    }

    private static let shortenedLength = 200

    private var wholeWithoutSecrets: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return "an unreadable address"
        }
        let names = components.percentEncodedQueryItems?.map { item in
            item.value == nil ? "…" : "\(item.name)=…"
        }
        components.percentEncodedUser = nil
        components.percentEncodedPassword = nil
        components.percentEncodedQuery = nil
        components.percentEncodedFragment = nil
        guard let address = components.string else { return "an unreadable address" }
        return address + (names.map { "?" + $0.joined(separator: "&") } ?? "")
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// A text without the credentials of this request: the values of sensitive header fields and what they are made of, and
    /// what its own description leaves out of the address.
    func removingSecrets(from text: String) -> String {
        // Longest first, so that nothing is left of one that contains another. What is shorter than four characters is no
        // secret, and taking it out would take words apart.
        (secretsOfHeaderFields + secretsOfAddress).filter { $0.count >= 4 }.sorted { $0.count > $1.count }
            .reduce(text) { text, secret in text.replacing(secret, with: "…") }
    }

    private var secretsOfHeaderFields: [String] {
        headerFields.filter(\.isSensitive).flatMap { field -> [String] in
            let parts = field.value.split(whereSeparator: " ;,\"".contains)
            // A scheme such as `Bearer` stands before the credential itself.
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
    /// This address for people to read: without user name, password and fragment, and with the names in the query alone,
    /// because keys and signatures travel as values. An address that is longer than requests may have is shortened.
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

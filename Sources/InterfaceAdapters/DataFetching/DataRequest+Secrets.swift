#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// A text without the credentials of this request: sensitive header fields and the user and password of the address.
    func removingSecrets(from text: String) -> String {
        secrets.reduce(text) { text, secret in text.replacing(secret, with: "…") }
    }

    /// Longest first, so that no part of a secret is left of one that contains another.
    private var secrets: [String] {
        let fields = headerFields.filter(\.isSensitive).flatMap { field in
            // A scheme such as `Bearer` stands before the credential itself.
            [field.value] + field.value.split(separator: " ").suffix(1).map(String.init)
        }
        let components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        let user = [components?.password, components?.percentEncodedPassword].compactMap(\.self)
        let pair = components.flatMap { components in components.percentEncodedUser.map { "\($0)@" } }
        return (fields + user + [pair].compactMap(\.self)).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }
}

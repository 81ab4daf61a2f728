#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// A text without the credentials of this request: sensitive header fields, and what its own description leaves out of
    /// the address.
    func removingSecrets(from text: String) -> String {
        // Longest first, so that nothing is left of one that contains another.
        (secretsOfHeaderFields + secretsOfAddress).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
            .reduce(text) { text, secret in text.replacing(secret, with: "…") }
    }

    private var secretsOfHeaderFields: [String] {
        headerFields.filter(\.isSensitive).flatMap { field in
            // A scheme such as `Bearer` stands before the credential itself.
            [field.value] + field.value.split(separator: " ").suffix(1).map(String.init)
        }
    }

    private var secretsOfAddress: [String] {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return [] }
        let user = components.percentEncodedUser ?? ""
        let password = components.percentEncodedPassword
        let userInfo = password.map { "\(user):\($0)@" } ?? (user.isEmpty ? "" : "\(user)@")
        return [userInfo, password, components.password, components.percentEncodedQuery].compactMap(\.self)
    }
}

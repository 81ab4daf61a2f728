/// A port for message authentication codes, such as HMAC with SHA-256. The signer of image URLs uses it.
///
/// Implement it with a cryptography library. With swift-crypto, that takes a few lines:
///
/// ```text
/// import Crypto
///
/// struct HMACAuthenticator: MessageAuthenticator {
///     let key: SymmetricKey
///
///     func authenticationCode(for message: [UInt8]) -> [UInt8] {
///         Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
///     }
///
///     func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool {
///         HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: key)
///     }
/// }
/// ```
public protocol MessageAuthenticator: Sendable {
    /// Returns the code for a message. Nobody can compute it without the key. It has at most 64 bytes.
    func authenticationCode(for message: [UInt8]) -> [UInt8]

    /// Returns whether a code is the one for a message.
    ///
    /// Codes come from clients and can have any length. Compare them in constant time: otherwise, clients could measure how many
    /// bytes of a forged code are right. Return `false` for a code of another length, such as an empty one or the beginning of a
    /// code.
    func isValidAuthenticationCode(_ code: [UInt8], for message: [UInt8]) -> Bool
}

/// A key that signs image URLs, with an identifier that appears in them.
///
/// ```swift
/// func makeSigner(_ current: any MessageAuthenticator, _ old: any MessageAuthenticator) -> ImageURLSigner? {
///     guard let key = ImageSigningKey(id: "2027a", current), let oldKey = ImageSigningKey(id: "2026b", old) else { return nil }
///     return ImageURLSigner(signingWith: key, verifyingWith: [oldKey])
/// }
/// ```
public struct ImageSigningKey: Sendable {
    /// The identifier. It is not secret.
    public let id: String
    /// Makes and verifies codes with the key.
    let authenticator: any MessageAuthenticator

    /// The maximum length of an identifier, 16 characters.
    public static let maximumIDLength = 16

    /// Creates a key, or returns `nil` if the identifier is empty, too long, or has characters other than letters and digits of
    /// ASCII, `-` and `_`.
    ///
    /// - Parameters:
    ///   - id: The identifier. Give each key its own, and do not use one again for another key.
    ///   - authenticator: Makes and verifies codes with the key.
    public init?(id: String, _ authenticator: any MessageAuthenticator) {
        guard (1...Self.maximumIDLength).contains(id.utf8.count), id.utf8.allSatisfy(\.isInBase64URL) else {
            return nil
        }
        self.id = id
        self.authenticator = authenticator
    }
}

extension UInt8 {
    /// Whether the byte is in the alphabet of base64url: a letter, a digit, `-` or `_`.
    fileprivate var isInBase64URL: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

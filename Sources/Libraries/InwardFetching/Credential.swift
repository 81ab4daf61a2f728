#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What proves an identity to an upstream: a header field, and how long it is valid. Descriptions do not reveal the value.
///
///     let credential = Credential.bearer(answer.access_token, expiresIn: .seconds(answer.expires_in))
public struct Credential: Hashable, Sendable {
    /// The header field. It is sensitive regardless of its name.
    public let field: HeaderField
    /// How long the credential is valid from when it was obtained, more than zero; `nil` if that is not known.
    public let lifetime: Duration?

    /// Creates a credential.
    ///
    /// - Parameters:
    ///   - field: The header field, such as ``HeaderField/bearer(_:)``.
    ///   - lifetime: How long it is valid from now, such as `expires_in` (RFC 6749 section 5.1); `nil` if that is not known.
    ///     Zero counts as not known, because some token endpoints say so of tokens that do not expire; so do values below
    ///     zero. Values above a year count as a year.
    public init(_ field: HeaderField, expiresIn lifetime: Duration? = nil) {
        self.field = HeaderField(field.name, field.value, isSensitive: true)
        // Bounded, because it comes from outside, and a moment has to be representable.
        self.lifetime = lifetime.flatMap { $0 > .zero ? min($0, .seconds(31_536_000)) : nil }
    }

    /// Returns a bearer token (RFC 6750 section 2.1).
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - lifetime: How long it is valid from now; `nil` if that is not known.
    /// - Returns: the credential.
    public static func bearer(_ token: String, expiresIn lifetime: Duration? = nil) -> Self {
        Self(HeaderField.bearer(token), expiresIn: lifetime)
    }
}

extension HeaderField {
    var sensitive: HeaderField { HeaderField(name, value, isSensitive: true) }
}

extension HeaderField {
    /// Returns a header field with a bearer token (RFC 6750 section 2.1). Descriptions do not reveal the token.
    public static func bearer(_ token: String) -> Self {
        Self(.authorization, "Bearer \(token)")
    }

    /// Returns a header field with a user name and password (RFC 7617); `nil` if the user name contains a colon, which the
    /// scheme cannot encode. Descriptions do not reveal the values.
    public static func basic(user: String, password: String) -> Self? {
        user.contains(":")
            ? nil : Self(.authorization, "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
}

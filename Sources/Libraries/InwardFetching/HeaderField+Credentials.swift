#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HeaderField {
    /// The credentials of whoever bears a token (RFC 6750 section 2.1). They show in no description.
    public static func bearer(_ token: String) -> Self {
        Self(.authorization, "Bearer \(token)")
    }

    /// The credentials of a user with a password (RFC 7617); `nil` if the user's name has a colon, which that has no way to
    /// send. They show in no description.
    public static func basic(user: String, password: String) -> Self? {
        user.contains(":")
            ? nil : Self(.authorization, "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())")
    }
}

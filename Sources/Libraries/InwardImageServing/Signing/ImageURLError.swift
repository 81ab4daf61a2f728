public import InwardFetching
import InwardImages

/// An error thrown when an image URL cannot be signed, or is not valid.
///
/// ```swift
/// func isForged(_ path: String, signer: ImageURLSigner) -> Bool {
///     do throws(ImageURLError) {
///         _ = try signer.verify(path, at: .now)
///         return false
///     } catch {
///         return error.reason == .invalidSignature
///     }
/// }
/// ```
public struct ImageURLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// The path is malformed, or no key has signed it. The error does not say which.
        case invalidSignature
        /// The signature is valid, but the URL has expired.
        case expired
        /// The address is too long or has control characters. Only addresses that were signed elsewhere can fail like this when
        /// they are verified.
        case invalidAddress
        /// The expiry is before 1970, or too far in the future.
        case invalidExpiry
        /// The signature is valid, but the recipe is not: another version of the service has signed it, or no font has a character
        /// of a watermark.
        case invalidRecipe
    }

    /// The kind of failure.
    public let reason: Reason
    /// What happened and what to do, as a sentence.
    public let description: String
}

extension ImageURLError {
    static let invalidSignature = Self(
        reason: .invalidSignature,
        description: "The image URL has no valid signature. Use the URL as the service has issued it."
    )
    static let expired = Self(
        reason: .expired,
        description: "The image URL has expired. Get a new one from the service."
    )
    static let invalidAddress = Self(
        reason: .invalidAddress,
        description:
            "The address of an image must have 1 to \(ImageURLSigner.maximumAddressLength) bytes and no control "
            + "characters. Use another address."
    )
    static let invalidExpiry = Self(
        reason: .invalidExpiry,
        description: "The expiry of an image URL must be between the years 1970 and 5138. Use another date."
    )

    /// A signed recipe that cannot be read.
    init(_ error: ImageRecipeError) {
        reason = .invalidRecipe
        description = error.description
    }

    /// A signed recipe with a watermark whose text cannot be drawn.
    init(_ error: TypesettingError) {
        reason = .invalidRecipe
        description = "A watermark of the image recipe is wrong: its text \(error.explanation)."
    }
}

extension ImageURLError: ProblemDetailsConvertible {
    /// The response to a client: 403 for an invalid signature, 410 for an expired URL, and 422 otherwise. The response for an
    /// invalid signature is always the same.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .invalidSignature: ProblemDetails(403, detail: description)
        case .expired: ProblemDetails(410, detail: description)
        case .invalidAddress, .invalidExpiry, .invalidRecipe: ProblemDetails(422, detail: description)
        }
    }
}

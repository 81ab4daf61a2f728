public import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A signer of image URLs. A server that answers signed URLs only cannot be made to load other images, or to process them in
/// other ways, than the service has chosen.
///
/// ```swift
/// func makeURL(_ signer: ImageURLSigner, now: Date) throws -> String {
///     let recipe = try ImageRecipe("resize=640x480,mode=fill")
///     return "/images/" + (try signer.path(to: "avatars/7.jpg", recipe, expiry: now.addingTimeInterval(86_400)))
/// }
///
/// func verify(_ path: String, _ signer: ImageURLSigner, now: Date) throws {
///     let image = try signer.verify(path, at: now)
///     print(image.address, image.recipe)
/// }
/// ```
///
/// A signed path has three segments: `{key}.{code}/{recipe}/{address}`, or `{key}.{code}.{expiry}/{recipe}/{address}`. The code
/// and the address are in base64url without padding, and the expiry is in seconds since 1970. No part needs percent-encoding, so
/// each image has exactly one URL, and proxies cannot change it by normalizing slashes or dots.
///
/// The code covers the key's identifier, the expiry, the recipe and the address, each with its length. The path is verified
/// before anything in it is read.
///
/// To replace a key, first add the new one to the keys that verify, in all instances of the service. Then sign with it, and keep
/// verifying with the old key until its URLs are no longer in use.
public struct ImageURLSigner: Sendable {
    /// The maximum length of an address, 2,048 bytes.
    public static let maximumAddressLength = 2_048
    /// The maximum length of a path, 4,096 bytes.
    public static let maximumPathLength = 4_096

    private static let maximumCodeLength = 64
    private static let maximumExpiryDigits = 11

    private let keys: [ImageSigningKey]
    private let signingKey: ImageSigningKey

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - key: The key that signs. It also verifies.
    ///   - otherKeys: More keys that verify, such as the previous one.
    public init(signingWith key: ImageSigningKey, verifyingWith otherKeys: [ImageSigningKey] = []) {
        signingKey = key
        keys = [key] + otherKeys
    }

    /// Returns the signed path of an image, without a slash at its beginning.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - recipe: How the server processes the image.
    ///   - expiry: The date from which the URL is no longer valid, or `nil` if it does not expire. Fractions of a second are
    ///     discarded.
    /// - Returns: The path.
    /// - Throws: An ``ImageURLError`` if the address or the expiry is outside its limits.
    public func path(
        to address: ImageAddress,
        _ recipe: ImageRecipe,
        expiry: Date? = nil
    ) throws(ImageURLError) -> String {
        guard address.isSignable else { throw .invalidAddress }
        var parts = SignedParts(
            keyID: signingKey.id,
            expiry: nil,
            recipe: recipe.description,
            address: Base64URL.text(of: address.rawValue.utf8)
        )
        if let expiry {
            let seconds = expiry.timeIntervalSince1970.rounded(.down)
            guard seconds >= 0, seconds < 1e11 else { throw .invalidExpiry }
            parts.expiry = String(Int64(seconds))
        }
        let code = Base64URL.text(of: signingKey.authenticator.authenticationCode(for: parts.message))
        let signature = ([parts.keyID, code] + [parts.expiry].compactMap { $0 }).joined(separator: ".")
        return "\(signature)/\(parts.recipe)/\(parts.address)"
    }

    /// Verifies a path.
    ///
    /// - Parameters:
    ///   - path: The path as the client sent it, still percent-encoded, without a slash at its beginning and without a query.
    ///   - date: The current date.
    ///   - hasTypesetter: Whether a typesetter draws the watermarks of recipes.
    /// - Returns: What the path refers to.
    /// - Throws: An ``ImageURLError``. Its reason is `invalidSignature` for any path that no key has signed, and `expired` only
    ///   if the signature is valid.
    public func verify(
        _ path: String,
        at date: Date,
        hasTypesetter: Bool = false
    ) throws(ImageURLError) -> SignedImage {
        guard path.utf8.count <= Self.maximumPathLength, let (parts, code) = Self.parts(of: path),
            keys.contains(where: { key in
                key.id == parts.keyID && key.authenticator.isValidAuthenticationCode(code, for: parts.message)
            })
        else { throw .invalidSignature }
        // From here on, the service itself has written the path.
        var expiry: Date?
        if let text = parts.expiry {
            guard let seconds = Int64(text) else { throw .invalidExpiry }
            let end = Date(timeIntervalSince1970: Double(seconds))
            guard date < end else { throw .expired }
            expiry = end
        }
        guard let bytes = Base64URL.bytes(of: parts.address), let text = String(validating: bytes, as: UTF8.self),
            case let address = ImageAddress(text), address.isSignable
        else { throw .invalidAddress }
        do throws(ImageRecipeError) {
            let recipe = try ImageRecipe(parts.recipe, hasTypesetter: hasTypesetter)
            return SignedImage(address: address, recipe: recipe, expiry: expiry)
        } catch {
            throw ImageURLError(error)
        }
    }

    /// Splits a path, or returns `nil` if it cannot be one that ``path(to:_:expiry:)`` returned.
    private static func parts(of path: String) -> (parts: SignedParts, code: [UInt8])? {
        let segments = path.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard segments.count == 3 else { return nil }
        let signature = segments[0].split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard (2...3).contains(signature.count), signature[0].utf8.count <= ImageSigningKey.maximumIDLength,
            signature[1].utf8.count <= maximumCodeLength * 4 / 3 + 2, let code = Base64URL.bytes(of: signature[1])
        else { return nil }
        let expiry = signature.count == 3 ? signature[2] : nil
        if let expiry {
            guard (1...maximumExpiryDigits).contains(expiry.utf8.count),
                expiry.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
        }
        let parts = SignedParts(
            keyID: String(signature[0]),
            expiry: expiry.map(String.init),
            recipe: String(segments[1]),
            address: String(segments[2])
        )
        return (parts, code)
    }
}

/// What a signed path refers to.
///
/// ```swift
/// func maximumAge(of image: SignedImage, at date: Date) -> TimeInterval? {
///     image.expiry.map { $0.timeIntervalSince(date) }
/// }
/// ```
public struct SignedImage: Hashable, Sendable {
    /// The address of the image.
    public let address: ImageAddress
    /// How the image is processed.
    public let recipe: ImageRecipe
    /// The date from which the path is no longer valid, or `nil` if it does not expire.
    public let expiry: Date?
}

/// The parts of a path that its signature covers, as they are written in the path.
private struct SignedParts {
    /// Keeps codes apart from those of other messages that the same key may sign.
    private static let purpose = "inward image url 1"

    let keyID: String
    var expiry: String?
    let recipe: String
    let address: String

    /// The signed message. Each part follows its length, so that no two lists of parts have the same message.
    var message: [UInt8] {
        var message: [UInt8] = []
        for part in [Self.purpose, keyID, expiry ?? "", recipe, address] {
            let count = UInt64(part.utf8.count)
            for shift in stride(from: 56, through: 0, by: -8) {
                message.append(UInt8(truncatingIfNeeded: count >> shift))
            }
            message.append(contentsOf: part.utf8)
        }
        return message
    }
}

extension ImageAddress {
    /// Whether the address has an allowed length and no control characters.
    fileprivate var isSignable: Bool {
        let bytes = rawValue.utf8
        return (1...ImageURLSigner.maximumAddressLength).contains(bytes.count)
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

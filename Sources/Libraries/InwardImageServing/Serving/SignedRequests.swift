import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request with a valid signature asks for.
struct SignedRequest: Sendable {
    let image: SignedImage
    let choice: ImageFormatNegotiation.Choice
    /// The key of the encoded image.
    let key: ImageVariantKey
}

/// Reads requests, and remembers the last ones: verifying a signature and choosing a format take longer than sending an image from memory.
///
/// It remembers only requests with a valid signature, so forged URLs cannot push them out.
final class SignedRequests: Sendable {
    private struct Text: Hashable {
        let path: String
        let accept: [String]
    }

    /// The approximate memory of all texts, in bytes.
    private static let limit = 4 * 1_024 * 1_024
    /// The approximate memory of what a text stands for.
    private static let overhead = 1_024

    private let signer: ImageURLSigner
    private let formats: ImageFormatNegotiation
    private let version: Int
    private let hasTypesetter: Bool
    private let known = Mutex(SieveCache<Text, SignedRequest>(limit: limit))

    init(signer: ImageURLSigner, formats: ImageFormatNegotiation, version: Int, hasTypesetter: Bool) {
        (self.signer, self.formats, self.version) = (signer, formats, version)
        self.hasTypesetter = hasTypesetter
    }

    /// Returns what a request asks for.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - accept: The values of the field `Accept`.
    ///   - date: The current date.
    /// - Returns: The image, its format and its key.
    /// - Throws: An ``ImageURLError`` if the path is not valid, or has expired.
    func request(_ path: String, accept: [String], at date: Date) throws(ImageURLError) -> SignedRequest {
        let text = Text(path: path, accept: accept)
        if let request = known.withLock({ $0.value(for: text) }), request.image.expiry.map({ date < $0 }) ?? true {
            return request
        }
        let image = try signer.verify(path, at: date, hasTypesetter: hasTypesetter)
        let choice = formats.choice(accept: accept)
        let key = ImageVariantKey(image, choice, version: version, hasTypesetter: hasTypesetter)
        let request = SignedRequest(image: image, choice: choice, key: key)
        let cost = path.utf8.count + accept.reduce(0) { $0 + $1.utf8.count } + Self.overhead
        // Evicted requests are released outside the lock.
        _ = known.withLock { $0.insert(request, for: text, cost: cost) }
        return request
    }
}

public import InwardImageServing
import InwardImages

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check of the requirements for every store of encoded images.
///
/// Pass the time, from which the check calculates when its images expire. Run the check in a test of any framework:
///
/// ```swift
/// func checkConformance(of store: any EncodedImageStore) async throws {
///     try await EncodedImageStoreConformance(now: Date()).check(store)
/// }
/// ```
///
/// The check requires that:
///
/// - an image is returned as it was inserted, and nothing under a key without one;
/// - an insert replaces the image for its key, and only that one;
/// - keys are different if their addresses or their descriptions are, even if they are long or similar;
/// - a removal concerns only its key or its address, and succeeds if there is nothing to remove;
/// - concurrent inserts for a key leave one of the images;
/// - a call in a cancelled task ends, and leaves the old image, the new one, or none if it removes.
///
/// A store may drop images. The check only fails for images that are missing if the same happens to all that are inserted in the
/// same way, or to all that a removal must leave.
///
/// The check removes what it inserts. A store that crashes ends the test process, and one that does not respond makes the check
/// hang, so give the test a time limit.
public struct EncodedImageStoreConformance: Sendable {
    private let now: Date

    /// Creates a check.
    ///
    /// - Parameter now: The time on the store's clock, or shortly before it. Images expire a day later at the earliest.
    public init(now: Date) {
        self.now = now
    }

    /// Checks a store.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists the violations, with the first cases of each check.
    public func check(_ store: any EncodedImageStore) async throws(ConformanceFailure) {
        var violations: [String] = []
        for check in [
            absenceViolations, contentViolations, replacementViolations, keyViolations, removalViolations,
            addressViolations, concurrencyViolations, cancelledInsertViolations, cancelledReadViolations,
            cancelledRemovalViolations,
        ] {
            do throws(EncodedImageStoreError) {
                violations += try await check(store).reduced()
            } catch {
                violations.append("The store must not fail, but did: \(error)")
            }
        }
        // Failures have been reported.
        for address in Self.addresses { try? await store.removeImages(from: address) }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    // MARK: Contents

    /// Nothing is returned or removed for a key without an image, although there are others.
    private func absenceViolations(
        _ store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) -> [String] {
        try await store.insert(image(1), for: Self.key("known"))
        let elsewhere: ImageAddress = "images/nowhere"
        var violations: [String] = []
        for unknown in [Self.key("unknown"), Self.key("known", from: elsewhere)] {
            if try await store.image(for: unknown) != nil {
                violations.append("There must be no image for a key that has none, but there is one.")
            }
            do throws(EncodedImageStoreError) {
                try await store.removeImage(for: unknown)
                try await store.removeImages(from: elsewhere)
            } catch {
                violations.append("The removal of what is not there must succeed, but failed: \(error)")
            }
        }
        return violations
    }

    /// An image is returned as it was inserted.
    private func contentViolations(
        _ store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) -> [String] {
        var images: [StoredImage] = []
        for byteCount in [0, 1, 100_000] {
            for mediaType in ["image/png", "image/avif", "image/svg+xml;charset=utf-8"] {
                images.append(image(images.count, byteCount: byteCount, mediaType: mediaType))
            }
        }
        images.append(image(images.count, days: 36_500))
        var foundCount = 0
        var violations: [String] = []
        for (number, image) in images.enumerated() {
            let key = Self.key("content \(number)")
            try await store.insert(image, for: key)
            guard let found = try await store.image(for: key) else { continue }
            foundCount += 1
            violations += Self.differences(of: found, from: image)
        }
        if foundCount == 0 {
            violations.append("Of \(images.count) inserted images, at least one must be found, but none is.")
        }
        return violations
    }

    /// Another insert for a key replaces the image, also by a smaller one.
    private func replacementViolations(
        _ store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) -> [String] {
        var violations: [String] = []
        for (number, byteCount) in [10, 10_000, 1_000].enumerated() {
            let key = Self.key("replaced \(number)")
            let (old, new) = (image(1, byteCount: 1_000), image(2, byteCount: byteCount, mediaType: "image/webp"))
            try await store.insert(old, for: key)
            try await store.insert(new, for: key)
            guard let found = try await store.image(for: key), found != new else { continue }
            violations.append(
                found == old
                    ? "An insert must replace the image for its key, but the old one is still there."
                    : "An insert must replace all of the image for its key, but does not."
            )
        }
        return violations
    }

    /// Each key has an image of its own.
    private func keyViolations(_ store: any EncodedImageStore) async throws(EncodedImageStoreError) -> [String] {
        var images: [KeyedImage] = []
        for address in Self.addresses {
            for key in [
                ImageVariantKey(address: address, description: "the same"), Self.key("1", from: address),
                Self.key("2", from: address),
            ] {
                images.append(KeyedImage(key: key, image: image(images.count)))
            }
        }
        for image in images { try await store.insert(image.image, for: image.key) }
        var violations: [String] = []
        for image in images {
            guard let found = try await store.image(for: image.key), found != image.image else { continue }
            guard let other = images.first(where: { $0.image == found })?.key else {
                violations.append("\(Self.name(image.key)) must have its image as it was inserted, but does not.")
                continue
            }
            let kind = other.address == image.key.address ? "with different descriptions" : "from different addresses"
            violations.append(
                "Images \(kind) must be kept apart, but \(Self.name(image.key)) has that of \(Self.name(other))."
            )
        }
        return violations
    }
}

/// An image and its key.
struct KeyedImage: Sendable {
    let key: ImageVariantKey
    let image: StoredImage
}

extension EncodedImageStoreConformance {
    /// The addresses of all images. A store could confuse them.
    static let addresses: [ImageAddress] = [
        "images/a", "images/a/b", "images/ab", "images/A", "images", "images//a", "images/../images/a", "images/a b",
        "images/a+b", "images/a%20b", "images/a%2Fb", "images/%", "images/_", "images/*", "images/그림.png",
        "https://example.org/images/a?b=c#d",
        ImageAddress("images/" + String(repeating: "long", count: 500)),
        ImageAddress("images/" + String(repeating: "long", count: 500) + "er"),
    ]

    /// Returns a key. Its text has the address, as those of servers do.
    static func key(_ name: String, from address: ImageAddress = "images/a") -> ImageVariantKey {
        ImageVariantKey(address: address, description: "1.1 image/png \(name) \(address.rawValue)")
    }

    /// Returns an image that differs from those with other numbers, which are less than 256.
    func image(
        _ number: Int,
        byteCount: Int = 100,
        mediaType: String = "image/png",
        days: Int = 1
    ) -> StoredImage {
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* ($0 >> 3) &+ number) }
        // A whole second, because a store may keep no fractions.
        let start = now.timeIntervalSince1970.rounded(.up)
        return StoredImage(
            bytes: Data(bytes),
            mediaType: mediaType,
            expiry: Date(timeIntervalSince1970: start + Double(days) * 86_400 + Double(number))
        )
    }

    /// Returns how an image differs from the one that was inserted.
    private static func differences(of found: StoredImage, from image: StoredImage) -> [String] {
        var differences: [String] = []
        if found.bytes != image.bytes {
            differences.append("An image of \(image.bytes.count) bytes must be returned with them, but has others.")
        }
        if found.mediaType != image.mediaType {
            differences.append("An image of type “\(image.mediaType)” must keep it, but has “\(found.mediaType)”.")
        }
        if found.expiry != image.expiry {
            differences.append("An image that expires on \(image.expiry) must keep that, but has \(found.expiry).")
        }
        return differences
    }

    /// Returns a key as it appears in a sentence.
    private static func name(_ key: ImageVariantKey) -> String {
        "\(excerpt(key.description)) from \(excerpt(key.address.rawValue))"
    }

    /// Returns a text as it appears in a sentence.
    static func excerpt(_ text: String) -> String {
        text.count <= 60 ? "“\(text)”" : "“\(text.prefix(30))…\(text.suffix(10))”"
    }
}

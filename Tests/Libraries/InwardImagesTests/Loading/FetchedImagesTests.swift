import Testing

@testable import InwardImages

struct FetchedImagesTests {
    private let images = FetchedImages()
    private let key = FetchedImages.Key(base: "a", version: 0)

    private func add(_ byte: UInt8) async throws -> FetchedImage {
        let reservation = try #require(await EncodedByteBudget(bytes: 1).reservation(for: 0))
        return images.add(for: key) { onRelease in
            FetchedImage(
                EncodedImage([byte]),
                header: ImageHeader(format: .png, size: ImageSize(clamping: 1, 1)),
                expiry: .zero,
                duration: .zero,
                reservation: reservation,
                onRelease: onRelease
            )
        }
    }

    @Test func imageIsAvailableWhileItIsReferenced() async throws {
        var image: FetchedImage? = try await add(1)
        #expect(images.image(for: key) === image && image != nil)
        #expect(images.image(for: FetchedImages.Key(base: "a", version: 1)) == nil)
        image = nil
        #expect(images.image(for: key) == nil && images.count == 0)
    }

    @Test func releasingAnImageDoesNotRemoveTheNextOneForItsKey() async throws {
        var first: FetchedImage? = try await add(1)
        let second = try await add(2)
        #expect(first != nil)
        first = nil
        #expect(images.image(for: key) === second && images.count == 1)
    }
}

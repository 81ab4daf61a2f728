import InwardImages
import TestSupport
import Testing

struct PlaceholderTests {
    private let size = ImageSize(clamping: 30, 27)
    private let missing = ImageResult.failure(ImageError(.notFound, explanation: "does not exist"))

    @Test func textIsCenteredOnTheColor() async throws {
        let placeholder = Placeholder(size: size, color: .black, text: "A", textColor: .white)
        let image = try await placeholder.applied(to: missing).get()
        #expect(image.size == size)
        // The line is nine rows high, a third of the image. The letter is seven rows high and five columns wide.
        #expect((0..<30).filter { image[$0, 13] == .white } == [12, 13, 14, 15, 16])
        #expect((0..<30).filter { image[$0, 10] == .white } == [13, 14, 15])
        #expect((0..<27).filter { image[12, $0] == .white } == [11, 12, 13, 14, 15, 16])
        #expect(Set((0..<810).map { image[$0 % 30, $0 / 30] }) == [.black, .white])
    }

    @Test func wideTextIsShrunk() async throws {
        let text = String(repeating: "#", count: 20)
        let image = try await Placeholder(size: size, color: .black, text: text).applied(to: missing).get()
        let columns = (0..<810).filter { image[$0 % 30, $0 / 30] != .black }.map { $0 % 30 }
        #expect(columns.min() == 3)
        #expect(columns.max() == 26)
    }

    @Test func hashGivesABlurredPlaceholder() async throws {
        let hash = try ThumbHash(of: .smooth(40, 22))
        let image = try await Placeholder(size: size, blur: hash).applied(to: missing).get()
        #expect(image == hash.image(size: size))
    }

    @Test func imageIsUnchanged() async throws {
        let result = ImageResult.success(.sample(3, 3))
        #expect(await Placeholder(size: size).applied(to: result) == result)
    }

    @Test func cancellationIsUnchanged() async throws {
        let cancelled = ImageResult.failure(ImageError(.cancelled, explanation: "was cancelled"))
        #expect(await Placeholder(size: size).applied(to: cancelled) == cancelled)
    }

    @Test func onePixelPlaceholderIsPossible() async throws {
        let point = ImageSize(clamping: 1, 1)
        let image = try await Placeholder(size: point, color: .black, text: "").applied(to: missing).get()
        #expect(image == .plain(1, 1, .black))
        #expect(try await Placeholder(size: point).applied(to: missing).get().size == point)
    }

    @Test func equalSettingsAreEqual() throws {
        let hash = try ThumbHash(of: .smooth(40, 22))
        #expect(Set([Placeholder(size: size), Placeholder(size: size, text: "?")]).count == 1)
        let placeholders: Set = [
            Placeholder(size: size), Placeholder(size: size.transposed), Placeholder(size: size, color: .black),
            Placeholder(size: size, text: "!"), Placeholder(size: size, textColor: .black),
            Placeholder(size: size, blur: hash), Placeholder(size: size, blur: try ThumbHash(of: .smooth(22, 40))),
        ]
        #expect(placeholders.count == 7)
    }
}

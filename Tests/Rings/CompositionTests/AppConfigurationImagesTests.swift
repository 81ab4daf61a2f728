import Composition
import InwardCore
import InwardImages
import InwardScopes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AppConfigurationImagesTests {
    private let picture = Image(size: ImageSize(clamping: 12, 9), color: .white)

    @Test func imagesAreReadAndWrittenByTheCodecThatTheTraitNames() async throws {
        let codec = try await AppContainer.example().imageCodec
        for encoding in [ImageEncoding.png, .jpeg()] {
            let bytes = try codec.bytes(of: picture, as: encoding)
            #expect(try codec.image(from: bytes, ImageDecodingOptions()) == picture)
        }
        #if Vips
        #expect("\(type(of: codec))" == "VipsImageCodec")
        #expect(try codec.header(of: codec.bytes(of: picture, as: ImageEncoding(.webP))).format == .webP)
        #else
        #expect("\(type(of: codec))" == "SwiftImageCodec")
        let error = #expect(throws: ImageCodecError.self) { try codec.bytes(of: picture, as: ImageEncoding(.webP)) }
        #expect(error?.reason == .unsupported(.webP))
        #endif
    }

    #if Vips
    /// Does something when it is closed.
    private struct ClosingErrorHandler: ErrorHandler {
        let description = "does something"
        let closing: @Sendable () -> Void

        func handle(_ error: any Error) {}
        func close() async { closing() }
    }

    @Test func theCodecIsClosedWithTheAppBehindEverythingElse() async throws {
        let app = try await AppContainer.example()
        let codec = try app.imageCodec
        let bytes = try codec.bytes(of: picture, as: .png)
        let journal = Journal()
        let last = ClosingErrorHandler {
            journal.add((try? codec.image(from: bytes, ImageDecodingOptions())) == nil ? "refused" : "decoded")
        }
        try await app.errorHandler.replace(with: last).close()
        try await app.close()
        #expect(journal.entries == ["decoded"])
        let error = #expect(throws: ImageCodecError.self) { try codec.image(from: bytes, ImageDecodingOptions()) }
        #expect(error?.reason == .cancelled)
    }

    @Test func theCodecsOfTwoAppsAreClosedEachWithItsOwn() async throws {
        let (first, second) = (try await AppContainer.example(), try await AppContainer.example())
        let codec = try second.imageCodec
        try await first.close()
        #expect(try codec.bytes(of: picture, as: .png).count > 8)
        try await second.close()
        #expect(throws: ImageCodecError.self) { try codec.bytes(of: picture, as: .png) }
    }
    #endif
}

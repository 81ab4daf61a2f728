import Composition
import InwardCore
import InwardImages
import InwardScopes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AppConfigurationImagesTests {
    private let sample = Image(size: ImageSize(clamping: 12, 9), color: .white)

    @Test func traitSelectsTheImageCodec() async throws {
        let codec = try await AppContainer.example().imageCodec
        for encoding in [ImageEncoding.png, .jpeg()] {
            let bytes = try codec.bytes(of: sample, as: encoding)
            #expect(try codec.image(from: bytes, ImageDecodingOptions()) == sample)
        }
        #if Vips
        #expect("\(type(of: codec))" == "VipsImageCodec")
        #expect(try codec.header(of: codec.bytes(of: sample, as: ImageEncoding(.webP))).format == .webP)
        #else
        #expect("\(type(of: codec))" == "SwiftImageCodec")
        let error = #expect(throws: ImageCodecError.self) { try codec.bytes(of: sample, as: ImageEncoding(.webP)) }
        #expect(error?.reason == .unsupported(.webP))
        #endif
    }

    #if Vips
    /// An error handler that calls a closure when it is closed.
    private struct ClosingErrorHandler: ErrorHandler {
        let description = "does something"
        let closing: @Sendable () -> Void

        func handle(_ error: any Error) {}
        func close() async { closing() }
    }

    @Test func codecIsClosedWithTheAppAfterEverythingElse() async throws {
        let app = try await AppContainer.example()
        let codec = try app.imageCodec
        let bytes = try codec.bytes(of: sample, as: .png)
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

    @Test func eachAppClosesItsOwnCodec() async throws {
        let (first, second) = (try await AppContainer.example(), try await AppContainer.example())
        let codec = try second.imageCodec
        try await first.close()
        #expect(try codec.bytes(of: sample, as: .png).count > 8)
        try await second.close()
        #expect(throws: ImageCodecError.self) { try codec.bytes(of: sample, as: .png) }
    }
    #endif
}

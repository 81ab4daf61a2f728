#if Observability
import Foundation
import InMemoryLogging
import InMemoryTracing
import InwardCore
import InwardFetching
import InwardImages
import InwardObservability
import InwardRepositories
import InwardScopes
import InwardTesting
import Logging
import Metrics
import MetricsTestKit
import Testing
import Tracing

/// Tests of the telemetry of images, sessions and errors.
struct TelemetryObserversTests {
    private let handler = InMemoryLogHandler()
    private let metrics = TestMetrics()

    private var logger: Logger {
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        return logger
    }

    @Test func sessionsAreCountedWithoutUserNames() throws {
        let observer = TelemetrySessionObserver(logger: logger, factory: metrics)
        for user in ["lovelace", "bob"] { observer.sessionOpened(user, after: .milliseconds(500)) }
        observer.sessionExpired("lovelace")
        observer.sessionClosed("lovelace", after: .seconds(60))
        observer.sessionEvicted("bob")
        observer.sessionRejected("eve")
        #expect(try metrics.expectMeter("inward.sessions.open", []).values == [1, 2, 1])
        #expect(try metrics.expectTimer("inward.session.opening.duration", []).values.count == 2)
        #expect(try metrics.expectTimer("inward.session.duration", []).valueInPreferredUnit(atIndex: 0) == 60)
        for event in ["expired", "evicted", "rejected"] {
            #expect(try metrics.expectCounter("inward.sessions.\(event)", []).values == [1])
        }
        let written = handler.entries.map { "\($0.level) \($0.message)" }
        #expect(
            written == [
                "debug Session opened", "debug Session opened", "debug Session expired", "debug Session closed",
                "info Session evicted", "warning Session rejected",
            ]
        )
        #expect(!"\(handler.entries)".contains("lovelace"))
    }

    @Test func imageStagesAreMeasuredAndMemoryIsAGauge() async throws {
        let observer = TelemetryImageObserver(logger: logger, factory: metrics)
        let loader = ImageLoader(
            source: NoImages(),
            codec: NoCodec(),
            budget: DecodingBudget(bytes: 80_000, observer: observer),
            timer: TimerService(ManualClock()),
            observer: observer
        )
        _ = await loader.load("secret/address")
        #expect(try metrics.expectTimer("inward.image.load.duration", [("error.type", "notFound")]).values == [0])
        let stage = [("inward.image.stage", "fetch"), ("inward.image.stage.origin", "done")]
        #expect(try metrics.expectTimer("inward.image.stage.duration", stage).values == [0])
        let part = [("inward.image.budget.part", "encoded")]
        #expect(try metrics.expectMeter("inward.image.budget.reserved", part).values == [10_000, 0])
        #expect(try metrics.expectMeter("inward.image.budget.limit", part).values.last == 10_000)
        #expect(try metrics.expectMeter("inward.image.queue.length", part).values.last == 0)
        #expect(
            handler.entries.map(\.metadata) == [
                [
                    "error.type": "notFound", "inward.image.load.duration": "0.0",
                    "inward.image.stages": "fetch, Orient",
                ]
            ]
        )
        #expect(handler.entries.first?.error as? ImageError == ImageError(.notFound, explanation: "is not there"))
    }

    @Test func imageLoadIsASpanWithItsStages() async throws {
        let tracer = InMemoryTracer()
        let url = try #require(URL(string: "https://upstream.test"))
        let fetcher = StubDataFetcher(DataResponse(body: Data([1])))
            .observing(with: TracingFetchObserver(tracer: tracer))
        let loader = ImageLoader(
            source: WebImages(fetcher: fetcher, url: url),
            codec: DotCodec(),
            timer: TimerService(ManualClock()),
            observer: TelemetryImageObserver(logger: logger, factory: metrics, tracer: tracer)
        )
        try await InteractionID.$current.withValue(InteractionID("17")) {
            _ = try await loader.loadImage(from: "https://upstream.test/secret")
        }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "load image"])
        let span = try #require(spans.last)
        #expect(spans.first?.parentSpanID == span.spanID && span.kind == .internal && span.status == nil)
        #expect(
            span.attributes
                == SpanAttributes([
                    "inward.interaction.id": "17", "inward.image.width": 1, "inward.image.height": 1,
                    "inward.image.stage": .stringArray(["fetch", "decode", "Orient"]),
                    "inward.image.stage.origin": .stringArray(["done", "done", "done"]),
                    "inward.image.stage.duration": .doubleArray([0, 0, 0]),
                    "inward.image.stage.bytes": .int64Array([1, 4, 4]),
                ])
        )
        // Steps are not span events: the events would have the time at which the load ended.
        #expect(span.events.isEmpty)
    }

    @Test func failedImageLoadIsASpanWithoutTheAddress() async throws {
        let tracer = InMemoryTracer()
        let observer = TelemetryImageObserver(logger: logger, factory: metrics, tracer: tracer)
        let loader = ImageLoader(source: NoImages(), codec: NoCodec(), observer: observer)
        _ = await loader.load("secret/address")
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.status == SpanStatus(code: .error, message: "The image is not there"))
        #expect(span.attributes.get("error.type") == "notFound")
        #expect(!"\(span)".contains("secret") && tracer.activeSpans.isEmpty)
    }

    @Test func errorIsLoggedWithItsValue() async {
        let errors = RecordingErrorHandler()
        let handling = errors.logging(with: logger) { $0 is RecordStoreError ? .critical : .error }
        let failure = RecordStoreError(.full, explanation: "It is\nfull.")
        InteractionID.$current.withValue(InteractionID("17")) { handling.handle(failure) }
        handling.handle(CancellationError())
        await handling.close()
        #expect(handler.entries.map(\.level) == [.critical, .error])
        #expect(handler.entries.first?.error as? RecordStoreError == failure)
        #expect(
            handler.entries.first?.metadata == [
                "exception.type": "InwardRepositories.RecordStoreError", "error.type": "full",
                "exception.message": #"It is\nfull."#, "inward.interaction.id": "17",
            ]
        )
        #expect(handler.entries.last?.metadata["error.type"] == "cancelled")
        #expect(errors.errors.count == 2)
        #expect(handling.description.hasPrefix("logs with swift-log → "))
    }

    @Test func ownLoggerNamesTheInteraction() {
        var handler = handler
        handler.metadataProvider = .interaction
        let logger = Logger(label: "own") { [handler] _ in handler }
        InteractionID.$current.withValue(InteractionID("17")) { logger.info("A comment was read") }
        logger.info("A comment was read")
        #expect(handler.entries.map { $0.metadata["inward.interaction.id"] } == ["17", nil])
    }

    @Test func appGetsAllObserversFromOneCall() async throws {
        let url = try #require(URL(string: "https://upstream.test"))
        let upstream = Upstream(baseURL: url, dataFetcher: StubDataFetcher(DataResponse()))
        var configuration = AppScopeConfiguration(upstream)
        configuration.observers = .telemetry(logger: logger, factory: metrics, tracer: InMemoryTracer())
        let app = await AppScope("notes", configuration)
        let session = try await app.signIn(as: "ada")
        try await session.close()
        try await app.close()
        #expect(handler.entries.map(\.message) == ["Session opened", "Session closed"])
        #expect(configuration.observers.fetching is TelemetryFetchObserver)
        #expect(configuration.observers.repositories is TelemetryRepositoryObserver)
    }

    /// A source that fetches every image from the same URL.
    private struct WebImages: ImageSource {
        let fetcher: any DataFetcher
        let url: URL

        func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
            do {
                return EncodedImage(Array(try await fetcher.fetch(DataRequest(url: url)).body))
            } catch {
                throw ImageError(.unavailable, of: address, explanation: "is away")
            }
        }
    }

    private struct NoImages: ImageSource {
        func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
            throw ImageError(.notFound, of: address, explanation: "is not there")
        }
    }

    /// A codec that decodes everything to an image of one pixel.
    private struct DotCodec: ImageCodec {
        func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
            ImageHeader(format: .png, size: ImageSize(clamping: 1, 1))
        }

        func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
            Image(size: ImageSize(clamping: 1, 1))
        }

        func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] { [1] }
    }

    private struct NoCodec: ImageCodec {
        func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
            throw ImageCodecError(.unrecognized, "is none")
        }

        func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
            throw ImageCodecError(.unrecognized, "is none")
        }

        func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
            throw ImageCodecError(.unrecognized, "is none")
        }
    }
}
#endif

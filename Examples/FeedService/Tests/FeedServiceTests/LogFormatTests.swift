import Foundation
import InwardCore
import Logging
import ServiceContextModule
import Synchronization
import Testing

@testable import FeedService

struct JSONLogHandlerTests {
    /// Collects the lines of a logger.
    private final class Lines: Sendable {
        private let bytes = Mutex(Data())

        var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

        func logger(_ provider: Logger.MetadataProvider? = nil) -> Logger {
            Logger(label: "feed") { [self] label in
                var handler = JSONLogHandler(label: label, now: { Date(timeIntervalSince1970: 0.25) }) { [self] line in
                    bytes.withLock { $0.append(line) }
                }
                handler.metadataProvider = provider
                return handler
            }
        }
    }

    private let lines = Lines()

    @Test func recordIsAnObjectOnOneLine() {
        lines.logger().warning("Two\n\"lines\".")
        #expect(
            lines.text == #"""
                {"level":"warning","logger":"feed","message":"Two\n\"lines\".","time":"1970-01-01T00:00:00.250Z"}

                """#
        )
    }

    @Test func metadataOfTheRecordReplacesThatOfTheLogger() throws {
        var logger = lines.logger(Logger.MetadataProvider { ["a": "provided", "b": "provided"] })
        logger[metadataKey: "a"] = "logger"
        logger[metadataKey: "d"] = "logger"
        logger.info("x", metadata: ["b": "record", "c": ["1", .stringConvertible(2)], "e": ["f": "g"]])
        let record = try JSONSerialization.jsonObject(with: Data(lines.text.utf8)) as? [String: Any]
        let metadata = try #require(record?["metadata"] as? [String: Any])
        #expect(metadata["a"] as? String == "provided")
        #expect(metadata["b"] as? String == "record")
        #expect(metadata["c"] as? [String] == ["1", "2"])
        #expect(metadata["d"] as? String == "logger")
        #expect(metadata["e"] as? [String: String] == ["f": "g"])
    }

    @Test func recordsNameTheRequestAndTheTrace() {
        #expect(LogFormat.metadata.get().isEmpty)
        var context = ServiceContext.topLevel
        context.trace = TraceContext(isSampled: false)
        let metadata = ServiceContext.withValue(context) {
            InteractionID.$current.withValue(InteractionID("request-1")) { LogFormat.metadata.get() }
        }
        #expect(metadata["request.id"] == "request-1" && metadata.count == 3)
        #expect(metadata["trace.id"]?.description == context.trace?.trace)
        #expect(metadata["span.id"]?.description == context.trace?.span)
    }

    @Test func recordsBelowTheLevelAreOmitted() {
        var logger = lines.logger()
        logger.debug("x")
        #expect(lines.text.isEmpty)
        logger.logLevel = .debug
        logger.debug("x")
        #expect(lines.text.hasPrefix(#"{"level":"debug""#))
    }
}

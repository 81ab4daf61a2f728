import Foundation
import InwardCore
public import Logging
import ServiceContextModule

/// The form of log records.
public enum LogFormat: String, Hashable, Sendable {
    /// Lines for people.
    case text
    /// An object in JSON on each line, for systems that collect logs.
    case json

    /// What each record says about the request whose work it is.
    static let metadata = Logger.MetadataProvider {
        var metadata: Logger.Metadata = [:]
        if let request = InteractionID.current { metadata["request.id"] = "\(request)" }
        if let trace = ServiceContext.current?.trace {
            metadata["trace.id"] = "\(trace.trace)"
            metadata["span.id"] = "\(trace.span)"
        }
        return metadata
    }

    /// Returns a logger that writes to standard error.
    ///
    /// - Parameter label: The name of the logger.
    /// - Returns: The logger.
    public func logger(_ label: String) -> Logger {
        switch self {
        case .text:
            Logger(label: label) {
                StreamLogHandler.standardError(label: $0, metadataProvider: Self.metadata)
            }
        case .json:
            Logger(label: label) { label in
                var handler = JSONLogHandler(label: label)
                handler.metadataProvider = Self.metadata
                return handler
            }
        }
    }
}

/// A log handler that writes each record as an object in JSON on a line of its own, for systems that collect logs.
///
/// ```swift
/// let logger = Logger(label: "feed-service") { JSONLogHandler(label: $0) }
/// logger.info("Ready.", metadata: ["port": "8080"])
/// // {"level":"info","logger":"feed-service","message":"Ready.","metadata":{"port":"8080"},"time":"2027-01-31T08:00:00.000Z"}
/// ```
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let now: @Sendable () -> Date
    private let write: @Sendable (Data) -> Void

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - label: The name of the logger.
    ///   - now: Returns the time of a record.
    ///   - write: Writes a line. By default, it is written to standard error in one piece.
    init(
        label: String,
        now: @escaping @Sendable () -> Date = { Date() },
        // A log that cannot be written must not end the service.
        write: @escaping @Sendable (Data) -> Void = { try? FileHandle.standardError.write(contentsOf: $0) }
    ) {
        (self.label, self.now, self.write) = (label, now, write)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        let record = Record(
            level: event.level.rawValue,
            logger: label,
            message: "\(event.message)",
            metadata: fields.isEmpty ? nil : fields.mapValues(Value.init),
            time: now().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, lists and dictionaries of texts can always be encoded.
        guard var line = try? encoder.encode(record) else { return }
        line.append(UInt8(ascii: "\n"))
        write(line)
    }

    private struct Record: Encodable {
        let level, logger, message: String
        let metadata: [String: Value]?
        let time: String
    }

    private struct Value: Encodable {
        let value: Logger.Metadata.Value

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .string(let text): try container.encode(text)
            case .stringConvertible(let value): try container.encode("\(value)")
            case .array(let values): try container.encode(values.map(Value.init))
            case .dictionary(let values): try container.encode(values.mapValues(Value.init))
            }
        }
    }
}

import ServiceContextModule

/// A place in a trace, which the header field `traceparent` carries from service to service (W3C Trace Context, level 1).
struct TraceContext: Hashable, Sendable {
    /// The identifier of the trace: 32 digits in hexadecimal, not all zero.
    let trace: String
    /// The identifier of the span: 16 digits in hexadecimal, not all zero.
    let span: String
    /// Whether the spans of the trace are recorded.
    let isSampled: Bool

    /// Begins a trace.
    init(isSampled: Bool) {
        (trace, span, self.isSampled) = (Self.digits(2), Self.digits(1), isSampled)
    }

    /// Creates the context of a span of the same trace.
    init(in parent: TraceContext) {
        (trace, span, isSampled) = (parent.trace, Self.digits(1), parent.isSampled)
    }

    /// Reads a field; `nil` if it is malformed, so that the receiver begins a trace.
    init?(field: String) {
        let parts = field.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.areDigits(parts[0], 2), parts[0] != "ff",
            // A later version may have more parts.
            parts.count == 4 || parts[0] != "00",
            Self.areDigits(parts[1], 32), parts[1].contains(where: { $0 != "0" }),
            Self.areDigits(parts[2], 16), parts[2].contains(where: { $0 != "0" }),
            Self.areDigits(parts[3], 2), let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        (trace, span, isSampled) = (String(parts[1]), String(parts[2]), flags & 1 == 1)
    }

    /// The field for a request to another service.
    var field: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

    private static func areDigits(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns 16 random digits for each word. They are never all zero.
    static func digits(_ words: Int) -> String {
        (0..<words).map { _ in
            let text = String(UInt64.random(in: 1 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        .joined()
    }
}

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = TraceContext
        static let nameOverride: String? = "trace"
    }

    /// The place of the current work in a trace.
    var trace: TraceContext? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}

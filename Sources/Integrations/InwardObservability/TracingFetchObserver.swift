#if Observability
import InwardCore
public import InwardFetching
public import Tracing

/// A fetch observer that creates a swift-distributed-tracing span for each attempt and propagates its context upstream.
///
/// The span is a child of the current span. Its kind is `client`, its name is the method, and its attributes follow
/// OpenTelemetry's semantic conventions for HTTP clients. An attempt without a complete response, or with a status of 400 or
/// above, is an error. The header fields that the tracer injects replace fields with the same names. Spans contain no credentials
/// and no hidden characters.
public struct TracingFetchObserver: FetchObserver {
    private let tracer: any Tracer

    /// Creates an observer that uses a tracer.
    ///
    /// - Parameter tracer: The tracer of the spans. The default is the instrumentation system's current tracer.
    public init(tracer: any Tracer = InstrumentationSystem.tracer) {
        self.tracer = tracer
    }

    /// Runs an attempt in a span.
    ///
    /// - Parameters:
    ///   - request: The request of the attempt.
    ///   - fetch: Sends the request with the given header fields added.
    /// - Returns: the response from `fetch`.
    /// - Throws: the error of `fetch`.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        let span = tracer.startSpan(request.spanName, ofKind: .client)
        defer { span.end() }
        if span.isRecording {
            span.updateAttributes { $0.merge(.interaction.merging(FetchAttributes(request))) }
        }
        var sent = request
        tracer.inject(span.context, into: &sent.headerFields, using: HeaderFieldsInjector())
        let outcome = await ServiceContext.withValue(span.context) {
            do throws(FetchError) {
                return Result<DataResponse, FetchError>.success(try await fetch(sent))
            } catch {
                return .failure(error)
            }
        }
        if span.isRecording {
            span.updateAttributes { $0.merge(FetchAttributes(outcome)) }
            if outcome.errorType != nil {
                span.setStatus(SpanStatus(code: .error, message: outcome.errorMessage?.visible))
            }
        }
        return try outcome.get()
    }
}

/// Injects the tracer's context into header fields, replacing fields with the same names.
struct HeaderFieldsInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HeaderFields) {
        guard let name = HeaderField.Name(key) else { return }
        carrier[name] = value
    }
}

extension SpanAttributes {
    /// Merges attributes, replacing those with the same names.
    mutating func merge(_ attributes: FetchAttributes) {
        for (name, value) in attributes.values {
            switch value {
            case .visible(let text): set(name, value: .string(text))
            case .integer(let number): set(name, value: .int64(Int64(number)))
            case .seconds(let number): set(name, value: .double(number))
            }
        }
    }
}
#endif

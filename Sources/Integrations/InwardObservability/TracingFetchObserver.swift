#if Observability
import InwardCore
public import InwardFetching
public import Tracing

/// A fetch observer that creates a swift-distributed-tracing span for each attempt and propagates its context to the upstream.
///
/// ```swift
/// let fetcher = URLSessionDataFetcher().observing(with: TracingFetchObserver())
/// ```
///
/// The span is a child of the current span. Its kind is `client`, its name is the method, and its attributes follow
/// OpenTelemetry's semantic conventions for HTTP clients. The span has the status `error` if no complete response arrives, or
/// if the status code is 400 or above. The header fields that the tracer injects replace fields with the same names. Spans
/// contain no credentials and no hidden characters.
///
/// The observer also traces operations. Each call of a `ResilientOperation` is a span of the kind `internal`, named after the
/// operation, and each attempt is a child span. `error.type` is the kind of failure. The span's status has a message only for
/// errors of this package, because the text of any other error can contain secrets, such as the parameters of a query.
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
    ///   - fetch: Sends a request. The observer calls it with the span's header fields added.
    /// - Returns: The response from `fetch`.
    /// - Throws: The error of `fetch`.
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

    /// Runs a call or an attempt of an operation in a span.
    ///
    /// - Parameters:
    ///   - step: The call, or the attempt, which is one execution of the operation within a call.
    ///   - work: The work of the step.
    /// - Returns: The result of `work`.
    /// - Throws: The error of `work`.
    public func surroundOperation<Output: Sendable, Failure: Error>(
        _ step: OperationStep,
        _ work: () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        let span = tracer.startSpan(step.spanName, ofKind: .internal)
        let name = FetchAttributes([AttributeName.operation: .text(step.name)])
        return try await span.surrounding(name, work)
    }
}

extension OperationStep {
    fileprivate var spanName: String {
        switch self {
        case .call(let name): name.visible
        case .attempt(let name): "attempt \(name)".visible
        }
    }
}

extension Span {
    /// Runs work in this span, records a failure, and ends the span.
    ///
    /// - Throws: The error of `work`.
    func surrounding<Value: Sendable, Failure: Error>(
        _ attributes: FetchAttributes,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        defer { end() }
        if isRecording { updateAttributes { $0.merge(.interaction.merging(attributes)) } }
        let outcome = await ServiceContext.withValue(context) {
            do throws(Failure) {
                return Result<Value, Failure>.success(try await work())
            } catch {
                return .failure(error)
            }
        }
        if isRecording, case .failure(let error) = outcome {
            updateAttributes { $0.merge(FetchAttributes([AttributeName.errorType: .text(error.category)])) }
            setStatus(SpanStatus(code: .error, message: error.credentialFreeText?.visible))
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

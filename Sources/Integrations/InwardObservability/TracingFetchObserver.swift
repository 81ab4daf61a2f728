#if Observability
import InwardCore
public import InwardFetching
public import Tracing

/// Makes a span of swift-distributed-tracing of every attempt, and tells the upstream which it is part of.
///
/// The span is a child of the one around, has the kind `client` and the name of the method, and says what OpenTelemetry's
/// semantic conventions for clients of HTTP want it to. An attempt without a whole answer is an error, and so is an answer with
/// a status of 400 or more. What the tracer makes of the span's context goes along as header fields, in place of any that have
/// their names. No span has a credential or a hidden character in it.
public struct TracingFetchObserver: FetchObserver {
    private let tracer: any Tracer

    /// Makes an observer that traces by a tracer.
    ///
    /// - Parameter tracer: Who makes spans; by default the one that the instrumentation system has at this moment.
    public init(tracer: any Tracer = InstrumentationSystem.tracer) {
        self.tracer = tracer
    }

    /// Makes a span around an attempt.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - fetch: Sends it, with header fields added.
    /// - Returns: what `fetch` returns.
    /// - Throws: what `fetch` throws.
    public func surroundAttempt(
        _ request: DataRequest,
        _ fetch: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        let span = tracer.startSpan(request.spanName, ofKind: .client)
        defer { span.end() }
        if span.isRecording {
            span.updateAttributes { $0.merge(FetchAttributes(request)) }
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

/// Puts what a tracer wants to be known upstream into header fields, in place of what they say already.
struct HeaderFieldsInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HeaderFields) {
        guard let name = HeaderField.Name(key) else { return }
        carrier[name] = value
    }
}

extension SpanAttributes {
    /// Adds attributes in place of those that have the same names.
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

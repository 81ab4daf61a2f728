#if Observability
import InwardFetching
import Tracing

/// Puts what a tracer wants to be known upstream into header fields, in place of what they say already.
struct HeaderFieldsInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HeaderFields) {
        guard let name = HeaderField.Name(key) else { return }
        carrier[name] = value
    }
}
#endif

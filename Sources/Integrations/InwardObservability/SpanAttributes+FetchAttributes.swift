#if Observability
import Tracing

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

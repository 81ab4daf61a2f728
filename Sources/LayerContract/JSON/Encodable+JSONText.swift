#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Encodable {
    /// The value as JSON that people can read, with a line break at its end.
    var jsonText: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Values of strings, numbers and lists of them can always be written.
        guard let data = try? encoder.encode(self) else { return "{}\n" }
        return String(decoding: data, as: UTF8.self) + "\n"
    }
}

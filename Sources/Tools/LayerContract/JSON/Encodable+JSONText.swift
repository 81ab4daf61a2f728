#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Encodable {
    /// The value as JSON that people can read, with a line break at its end.
    func jsonText() throws(JSONTextError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
        } catch {
            throw JSONTextError(explanation: "This cannot be written as JSON: \(error)")
        }
    }
}

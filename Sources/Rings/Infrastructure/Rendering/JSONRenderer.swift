import Foundation
public import InterfaceAdapters
import InwardCore

/// A renderer of view models as JSON with sorted keys, one member per line. Hidden characters are escaped.
/// The output can be embedded in HTML: it cannot end a script.
public struct JSONRenderer: Sendable {
    /// Creates a renderer.
    public init() {}

    /// Returns the view model as JSON, followed by a line feed.
    ///
    /// - Complexity: O(n) in the size of the view model.
    /// - Throws: An `EncodingError` if the view model contains a value that JSON cannot represent, such as an infinite number.
    public func render(_ viewModel: some ViewModel) throws(EncodingError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(viewModel), as: UTF8.self).escapingWhatIsHidden() + "\n"
        } catch let error as EncodingError {
            throw error
        } catch {
            throw .invalidValue(viewModel, .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
        }
    }
}

extension String {
    /// Returns this JSON text with `\u` escapes for the characters that the encoder leaves as they are, although they are hidden or
    /// could end a script that embeds the text.
    ///
    /// Outside strings, the only such character in JSON is the line feed. Inside strings, the encoder escapes those in ASCII.
    fileprivate func escapingWhatIsHidden() -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            // In HTML, `</` and `<!--` have an effect inside a script.
            if scalar == "<" || scalar.isHidden && scalar != "\n" {
                for unit in UTF16.encode(scalar) ?? .init() {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

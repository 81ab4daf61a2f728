import Foundation
public import InterfaceAdapters
import InwardCore

/// A renderer of view models as JSON with sorted keys, one member per line.
///
/// ```swift
/// let failure = FailureViewModel("The draft was not saved", advice: "Shorten its title.")
/// let json = try JSONRenderer().render(failure)
/// ```
///
/// Hidden characters are escaped. The output is safe inside an HTML script, because it contains no tag that ends the script.
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
            return String(decoding: try encoder.encode(viewModel), as: UTF8.self).escapingHiddenCharacters() + "\n"
        } catch let error as EncodingError {
            throw error
        } catch {
            throw .invalidValue(viewModel, .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
        }
    }
}

extension String {
    /// Returns this JSON text with `\u` escapes for hidden characters and for characters that could end a script around the
    /// text.
    ///
    /// Escapes are valid only inside strings. Outside strings, the only hidden character is the line feed, which stays.
    fileprivate func escapingHiddenCharacters() -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            // Inside an HTML script, `</` can end it and `<!--` can begin a comment.
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

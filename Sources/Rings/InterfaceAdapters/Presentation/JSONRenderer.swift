import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Renders view models as JSON for programs: keys in order, one member a line, no character that nobody sees.
/// The text can be embedded in HTML: nothing in it ends a script.
public struct JSONRenderer: Sendable {
    /// Makes a renderer.
    public init() {}

    /// The view model as JSON, ended by a line feed.
    ///
    /// - Complexity: O(n) in the size of the view model.
    /// - Throws: an `EncodingError` if the view model has what JSON cannot say, such as an infinite number.
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
    /// This JSON text with what an encoder leaves as it is as `\u` escapes, though nobody sees it, or though it could end the
    /// script that the text is embedded in.
    ///
    /// Outside its strings JSON has nothing of the kind but line feeds, and inside them the encoder escapes all of ASCII's.
    fileprivate func escapingWhatIsHidden() -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            // In HTML, `</` and `<!--` act inside a script.
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

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Renders view models as JSON for programs: keys in order, one member a line, no character that acts on a screen.
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
            return String(decoding: try encoder.encode(viewModel), as: UTF8.self).escapingWhatActsOnAScreen() + "\n"
        } catch let error as EncodingError {
            throw error
        } catch {
            throw .invalidValue(viewModel, .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
        }
    }
}

extension String {
    /// This JSON text with what an encoder leaves as it is, though it acts on a screen, as `\u` escapes.
    ///
    /// Outside its strings JSON has nothing of the kind but line feeds, and inside them the encoder escapes all of ASCII's.
    fileprivate func escapingWhatActsOnAScreen() -> String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.actsOnTheScreen, scalar != "\n" {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

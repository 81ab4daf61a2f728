/// A part of a page. Text that is inserted into it is escaped, so that it can never become markup.
///
/// ```swift
/// let name = "<Ada>"
/// let heading: HTML = "<h1>\(name)</h1>"  // <h1>&lt;Ada&gt;</h1>
/// ```
struct HTML: ExpressibleByStringInterpolation, Equatable, Sendable {
    /// The markup.
    let markup: String

    init(stringLiteral markup: String) {
        self.markup = markup
    }

    init(stringInterpolation: StringInterpolation) {
        markup = stringInterpolation.markup
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { markup += literal }

        mutating func appendInterpolation(_ number: Int) { markup += "\(number)" }

        mutating func appendInterpolation(_ part: HTML) { markup += part.markup }

        mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { markup += part.markup }
        }

        /// Appends a part, or nothing if it is `nil`.
        mutating func appendInterpolation(_ part: HTML?) { markup += part?.markup ?? "" }

        /// Appends text, for the content of elements or for attributes in quotation marks.
        mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": markup += "&amp;"
                case "<": markup += "&lt;"
                case ">": markup += "&gt;"
                case "\"": markup += "&quot;"
                case "'": markup += "&#39;"
                default: markup.unicodeScalars.append(scalar)
                }
            }
        }
    }
}

extension String {
    /// This text as one line that does nothing to whoever is shown it: control characters, separators of lines and the marks
    /// that reverse the direction of text are written out, such as `\n` and `\u{1B}`.
    var singleLine: String {
        unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.actsOnItsReader {
                line += scalar.escaped(asASCII: true)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var actsOnItsReader: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

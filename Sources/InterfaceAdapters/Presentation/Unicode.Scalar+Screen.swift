extension Unicode.Scalar {
    /// Whether this scalar does something to a screen instead of being shown on it: a control character, a separator of
    /// lines, or one of the marks for the direction of text that Unicode Standard Annex 9 defines.
    var actsOnTheScreen: Bool {
        // The tables of Unicode are asked for no more than they must: nearly all of a text is here.
        if isASCII { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

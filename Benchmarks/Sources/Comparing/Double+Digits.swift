extension Double {
    /// The number with two decimal places. It must be positive.
    public var withTwoDigits: String {
        let hundredths = Int((self * 100).rounded())
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
    }
}

extension Double {
    /// The number with two digits behind the point, for positive ones.
    public var withTwoDigits: String {
        let hundredths = Int((self * 100).rounded())
        return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
    }
}

extension [Double] {
    /// The median, or 0 if the array is empty.
    public var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

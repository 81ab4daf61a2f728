extension [Double] {
    /// The value in the middle; 0 if there is none.
    public var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

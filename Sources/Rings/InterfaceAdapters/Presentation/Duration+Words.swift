extension Duration {
    /// The duration in its largest whole unit, such as `5 minutes`.
    var inWords: String {
        let units: [(seconds: Int64, name: String)] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")]
        let seconds = max(0, components.seconds)
        let unit = units.first { seconds >= $0.seconds } ?? (1, "second")
        let count = seconds / unit.seconds
        return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
    }
}

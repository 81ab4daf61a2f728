/// What does not fit about the arguments.
struct UsageError: Error, Equatable {
    /// What does not fit, as a sentence without its capital letter and full stop.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

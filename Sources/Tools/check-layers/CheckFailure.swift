/// What keeps a package from being checked.
struct CheckFailure: Error, Equatable {
    /// What happened and what to do, in sentences.
    let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

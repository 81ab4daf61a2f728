import UseCases

/// The end of a chain that writes down when it is called, and can be made to do more.
struct JournalingErrorHandler: ErrorHandler {
    let journal: Journal
    var name = "base"
    var then: @Sendable (any Error) -> Void = { _ in }

    func handle(_ error: any Error) {
        journal.add("\(name): \(error)")
        then(error)
    }

    func close() async {
        journal.add("\(name) is closed")
    }

    var description: String { name }
}

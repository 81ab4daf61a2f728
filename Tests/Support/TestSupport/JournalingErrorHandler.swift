import InwardCore

/// The end of a chain of error handlers, which records its calls in a journal and can do more.
package struct JournalingErrorHandler: ErrorHandler {
    package let journal: Journal
    package var name = "base"
    package var then: @Sendable (any Error) -> Void = { _ in }

    package init(journal: Journal, name: String = "base", then: @escaping @Sendable (any Error) -> Void = { _ in }) {
        self.journal = journal
        self.name = name
        self.then = then
    }

    package func handle(_ error: any Error) {
        journal.add("\(name): \(error)")
        then(error)
    }

    package func close() async {
        journal.add("\(name) is closed")
    }

    package var description: String { name }
}

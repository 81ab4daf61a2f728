package import InwardCore

extension RepositoryError {
    /// Throws the error of a cancelled request if the task is cancelled.
    package static func throwIfCancelled(asking request: String) throws(RepositoryError) {
        guard !Task.isCancelled else {
            throw RepositoryError(.cancelled, request: request, explanation: "was cancelled")
        }
    }
}

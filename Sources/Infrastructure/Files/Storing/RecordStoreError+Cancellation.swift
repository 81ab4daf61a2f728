import InterfaceAdapters

extension RecordStoreError {
    /// Ends what a cancelled task is about to ask of a store.
    static func throwIfCancelled() throws(RecordStoreError) {
        guard Task.isCancelled else { return }
        throw RecordStoreError(
            .cancelled,
            explanation: "The task was cancelled before the store was asked."
        )
    }
}

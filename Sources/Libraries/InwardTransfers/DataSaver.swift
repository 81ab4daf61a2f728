/// The port through which data leaves the program to be kept elsewhere: by a collector of reports, in a file, in a store.
///
/// Who has little and has it whole saves it at once. Who has it in pieces writes a ``DataDraft``, which nobody sees before it is
/// whole. A saver that knows only the first need not implement the other: it is given the pieces put together, within a limit.
///
/// Whoever implements it ends a wait with an error when the task that saves is cancelled. Check an implementation with
/// `DataSaverConformance` of the product `InwardTesting`.
public protocol DataSaver: Sendable {
    /// Saves data, all of it or nothing that anybody will see.
    ///
    /// - Throws: a ``DataSaverError`` if it is not known to be saved.
    func save(_ data: [UInt8]) async throws(DataSaverError)

    /// Opens a draft to write pieces into, with what an earlier one left of itself.
    ///
    /// - Throws: a ``DataSaverError`` if nothing can be written here, or somebody else is writing.
    func openDraft() async throws(DataSaverError) -> any DataDraft
}

extension DataSaver {
    /// A draft that holds all pieces in memory, at most 8 MiB, and saves them at once. It leaves nothing behind when it is given up.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        gatheredDraft()
    }

    /// Makes a draft that holds all pieces in memory and saves them at once.
    ///
    /// Return it from ``openDraft()`` of a saver that takes data only as a whole, with a limit that suits it.
    ///
    /// - Parameter byteLimit: The most bytes that the draft holds.
    /// - Returns: the draft.
    public func gatheredDraft(byteLimit: Int = 8 * 1_024 * 1_024) -> any DataDraft {
        GatheredDraft(for: self, byteLimit: max(0, byteLimit))
    }
}

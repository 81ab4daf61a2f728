/// The port through which data leaves the program to be kept elsewhere: by a collector of reports, in a file, in a store.
///
/// Whoever implements it ends a wait with an error when the task that saves is cancelled.
public protocol DataSaver: Sendable {
    /// Saves data, all of it or nothing that anybody will see.
    ///
    /// - Throws: a ``DataSaverError`` if it is not known to be saved.
    func save(_ data: [UInt8]) async throws(DataSaverError)
}

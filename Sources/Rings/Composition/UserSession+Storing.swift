import Foundation
import InwardCore
import InwardRepositories

extension UserSession {
    /// The session's part of a store, which is another for each upstream: what one says is not what another does, and what is to be
    /// written to one is not for another.
    ///
    /// - Parameters:
    ///   - records: The store.
    ///   - upstream: The address of the upstream.
    ///   - errorHandler: Receives what could not be read or kept.
    /// - Returns: the part; `nil` if nothing of the session is kept there.
    func place(
        in records: any RecordStore,
        of upstream: URL,
        tellingFailuresTo errorHandler: any ErrorHandler
    ) -> RepositoryStore? {
        storePart.map { part in
            RepositoryStore(records, partition: RecordKey(["upstreams", upstream.nameInStore] + part.components)) {
                Date()
            } reportFailure: { error in
                errorHandler.handle(error)
            }
        }
    }
}

extension URL {
    /// What an upstream is called in a store: the same with a slash at its end and without.
    fileprivate var nameInStore: String {
        let address = absoluteURL.standardized.absoluteString
        return address.hasSuffix("/") ? String(address.dropLast()) : address
    }
}

import Foundation
import InterfaceAdapters
import UseCases

extension UserSession {
    /// The session's part of a store; `nil` if nothing of it is kept there.
    func place(in records: any RecordStore, tellingFailuresTo errorHandler: any ErrorHandler) -> RepositoryStore? {
        storeKey.map { key in
            RepositoryStore(records, partition: ["sessions", key]) {
                Date()
            } reportFailure: { error in
                errorHandler.handle(error)
            }
        }
    }
}

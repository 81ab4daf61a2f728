import Foundation
import InwardCore
import InwardFileStores
import InwardRepositories

extension AppConfiguration {
    /// Makes the store of what outlives the process; `nil` if the configuration names no directory.
    ///
    /// - Parameter errorHandler: Receives what was damaged there.
    /// - Returns: the store.
    func makeRecordStore(tellingDamageTo errorHandler: any ErrorHandler) -> (any RecordStore)? {
        storeDirectory.map { path in
            FileRecordStore(
                directory: URL(filePath: path, directoryHint: .isDirectory),
                reportDamage: { errorHandler.handle($0) }
            )
        }
    }
}

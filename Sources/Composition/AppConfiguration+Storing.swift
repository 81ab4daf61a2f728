import Foundation
import Infrastructure
import InterfaceAdapters
import UseCases

extension AppConfiguration {
    /// Where what outlives the process is kept; `nil` if nowhere.
    ///
    /// - Parameter errorHandler: Who is told of what was damaged there.
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

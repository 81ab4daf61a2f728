import InwardCore
import InwardTransfers
import Synchronization
import TestSupport

/// A saver that passes an error to a handler each time it saves.
final class HandlingDataSaver: DataSaver {
    private let recorded = Mutex<[[UInt8]]>([])
    private let handler: any ErrorHandler

    init(handler: any ErrorHandler) {
        self.handler = handler
    }

    var saved: [[UInt8]] { recorded.withLock(\.self) }

    func save(_ data: [UInt8]) async throws(DataSaverError) {
        recorded.withLock { $0.append(data) }
        handler.handle(ExampleError("saving"))
    }
}

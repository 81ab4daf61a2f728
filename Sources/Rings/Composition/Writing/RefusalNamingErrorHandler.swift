import InterfaceAdapters
import InwardCore
import InwardRepositories

/// Passes errors on, and names refused posts as a person recognises them.
struct RefusalNamingErrorHandler: ErrorHandler {
    private let base: any ErrorHandler

    init(_ base: any ErrorHandler) {
        self.base = base
    }

    func handle(_ error: any Error) {
        base.handle((error as? RefusedWriteError).map { RefusedPostError($0) } ?? error)
    }

    func close() async { await base.close() }

    var description: String { "names refused posts → \(base)" }
}

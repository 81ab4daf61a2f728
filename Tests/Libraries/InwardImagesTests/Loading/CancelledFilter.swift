@testable import InwardImages

/// A plugin that is cancelled while it runs, and returns an unfinished image.
struct CancelledFilter: ImageFilter {
    func filtered(_ image: Image) throws(CancellationError) -> Image {
        // `unsafe`: the task is used only while the closure runs.
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return image
    }
}

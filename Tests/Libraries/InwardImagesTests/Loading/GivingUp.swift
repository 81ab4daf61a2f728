@testable import InwardImages

/// A plugin whose task is cancelled while it is at work, and which leaves something half done behind.
struct GivingUp: ImageFilter {
    func filtered(_ image: Image) throws(CancellationError) -> Image {
        // The task that calls is there while it is called.
        // `unsafe`: the task is used only while the closure runs.
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return image
    }
}

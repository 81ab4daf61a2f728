package import InwardCore
import InwardTesting

extension TimerService {
    /// A timer service whose time stands still.
    package static var still: TimerService { TimerService(ManualClock()) }
}

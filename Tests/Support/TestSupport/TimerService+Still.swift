package import InwardCore
import InwardTesting

extension TimerService {
    /// One whose time stands still, for what no time is to pass in.
    package static var still: TimerService { TimerService(ManualClock()) }
}

import InwardTesting
import UseCases

extension TimerService {
    /// One whose time stands still, for what no time is to pass in.
    static var still: TimerService { TimerService(ManualClock()) }
}

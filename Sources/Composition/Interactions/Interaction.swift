import InterfaceAdapters
import UseCases

/// What every interaction holds.
public struct Interaction: Sendable {
    /// The upstream as the user asks it.
    let upstream: Upstream
    /// The titles that are being published, with all who publish.
    let titlesUnderWay: TitleReservations
    /// How long it has been going on.
    let stopwatch: Stopwatch
    /// By when the interaction has to be answered.
    let deadline: Deadline
}

import InterfaceAdapters
import UseCases

/// What every interaction holds.
public struct Interaction: Sendable {
    /// The upstream as the user asks it.
    let upstream: Upstream
    /// The titles that are being published, with all who publish.
    let titlesUnderWay: TitleReservations
    /// Who hears of what no caller is told.
    let errorHandler: any ErrorHandler
    /// By when the interaction has to be answered.
    let deadline: Deadline
}

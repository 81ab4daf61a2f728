import InterfaceAdapters
import InwardCore
import InwardRepositories
import UseCases

/// What every interaction holds.
public struct Interaction: Sendable {
    /// The upstream as the user asks it.
    let upstream: Upstream
    /// The users, and what the session knows of them.
    let users: UpstreamUserRepository
    /// The posts, and what the session knows of them.
    let posts: UpstreamPostRepository
    /// The titles that are being published, with all who publish.
    let titlesUnderWay: TitleReservations
    /// Who hears of what no caller is told.
    let errorHandler: any ErrorHandler
    /// By when the interaction has to be answered.
    let deadline: Deadline
}

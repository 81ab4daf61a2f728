import Entities
import InwardCore
public import UseCases

/// Turns what `ShowUser` answers into what a view shows.
public struct UserProfilePresenter: Sendable {
    private let router: any Router

    /// Makes a presenter, with links for the medium of a router.
    public init(router: any Router = NoLinks()) {
        self.router = router
    }

    /// What to show of a user and the user's posts.
    public func present(_ profile: UserProfile) -> UserProfileViewModel {
        let user = profile.user.value
        let (posts, notes): ([Post], [String]) =
            switch profile.posts {
            case .success(let reading): (reading.value, reading.notes)
            case .failure(let error): ([], ["The posts could not be had: \(error)"])
            }
        return UserProfileViewModel(
            name: user.name,
            fields: fields(of: user),
            posts: posts.map { .init(id: $0.id.rawValue, title: $0.title, body: $0.body) },
            postsLink: router.link(to: .posts(by: user.id, after: nil)),
            origin: profile.user.origin.description,
            notes: profile.user.notes + notes
        )
    }

    /// What to show of a failure to show the user.
    public func present(_ error: ShowUserError) -> FailureViewModel {
        let summary = "The user could not be shown"
        return switch error {
        case .cancelled: FailureViewModel("Showing the user was cancelled")
        case .notFound(let id):
            FailureViewModel("There is no user \(id)", advice: "List the users to see who there is.")
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .unreadable(let cause): .unreadable(summary, cause)
        }
    }

    private func fields(of user: User) -> [UserProfileViewModel.Field] {
        let address = user.address
        let location = "\(address.location.latitude)°, \(address.location.longitude)°"
        return [
            .init(label: "Username", text: user.username),
            .init(label: "Email", text: user.email.description),
            .init(label: "Phone", text: user.phone),
            .init(label: "Website", text: user.website),
            .init(label: "Address", text: "\(address.street), \(address.suite), \(address.zipcode) \(address.city)"),
            .init(label: "Location", text: location),
            .init(label: "Company", text: user.company.name),
            .init(label: "Its word", text: user.company.catchPhrase),
            .init(label: "Its business", text: user.company.business),
        ]
    }
}

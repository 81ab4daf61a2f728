import HTTPTypes
import Hummingbird
import HummingbirdCore
import InwardFetching

/// The routes with which users sign in and out.
struct SessionAPI {
    private struct SignInContent: Decodable {
        let user: String
    }

    private struct SignInResource: Encodable {
        let user: String
        /// The token, which is shown only once.
        let token: String?
    }

    let app: FeedApp

    func addRoutes(to router: RouterGroup<FeedRequestContext>) {
        router.post("session") { request, _ in
            let content = try await RequestContent(request, as: [PostAPI.json], by: app.deadline)
            let user = try content.decoded(as: SignInContent.self).user
            let token = try await app.signIn(as: user)
            return try WriteResponse(.created, body: SignInResource(user: user, token: token)).response(
                isRepeated: false
            )
        }
        router.get("session") { request, context in
            guard case .user(let user, _) = context.visitor else { throw SignInRequired() }
            return try Answer(json: SignInResource(user: user, token: nil))
                .response(to: request, cacheControl: "no-store")
        }
        router.delete("session") { _, context in
            guard case .user(let user, let signIn) = context.visitor else { throw SignInRequired() }
            try await app.signOut(user, signIn)
            return try WriteResponse(.noContent).response(isRepeated: false)
        }
        router.delete("sessions") { _, context in
            guard case .user(let user, _) = context.visitor else { throw SignInRequired() }
            try await app.signOut(user, nil)
            return try WriteResponse(.noContent).response(isRepeated: false)
        }
    }
}
